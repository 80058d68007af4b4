// Binds the protocol for Python: the names in its tables, the exhaustive walk and the random test.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "check/random.hh"
#include "check/walk.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

nb::dict protocol_names() {
  nb::dict out;
  const auto add = [&out](const char* list, const auto& names) {
    nb::list strings;
    for (const std::string_view n : names) strings.append(std::string(n));
    out[list] = strings;
  };
  add("client_events", name::client_events);
  add("client_actions", name::client_actions);
  add("children", name::children);
  add("requests", name::requests);
  add("resolver_actions", name::resolver_actions);
  add("answers", name::answers);
  add("waits", name::waits);
  add("probes", name::probes);
  add("join_actions", name::join_actions);
  add("phases", name::phases);
  add("transaction_events", name::transaction_events);
  add("transaction_actions", name::transaction_actions);
  add("messages", name::messages);
  return out;
}

using Cells = std::vector<uint32_t>;

// Calls Python's `tick(done) -> bool`, if one is given, and returns whether the work continues.
// Ctrl-C ends the work in any case. The work itself runs without Python's global interpreter lock.
class ProgressReport {
 public:
  explicit ProgressReport(nb::object tick) : tick_(std::move(tick)) {}
  bool operator()(uint64_t done) const {
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return tick_.is_none() || nb::cast<bool>(tick_(done));
  }

 private:
  nb::object tick_;
};

template <class Work>
auto without_lock(Work&& work) {
  nb::gil_scoped_release released;
  return work();
}

nb::dict walk(const Cells& cells, const check::Tree& tree, uint64_t states, nb::object tick,
              int lines) {
  const Protocol protocol(cells);
  const ProgressReport report_progress(std::move(tick));
  const check::Walk w = without_lock([&] {
    return check::walk(protocol, tree, {.states = states, .lines = lines},
                       std::ref(report_progress));
  });
  nb::dict out;
  out["states"] = w.states;
  out["transitions"] = w.transitions;
  out["depth"] = w.depth;
  out["complete"] = w.complete;
  out["violation"] = w.violation;
  out["trace"] = w.trace;
  out["reached"] = w.reached;
  return out;
}

nb::dict trial(const Cells& cells, const check::Tree& tree, int lines, uint64_t operations,
               uint64_t seed, nb::object tick) {
  const Protocol protocol(cells);
  const ProgressReport report_progress(std::move(tick));
  const check::Trial t = without_lock([&] {
    return check::trial(protocol, tree, lines, operations, seed, std::ref(report_progress));
  });
  nb::dict out;
  out["operations"] = t.operations;
  out["steps"] = t.steps;
  out["violation"] = t.violation;
  out["trace"] = t.trace;
  out["reached"] = t.reached;
  return out;
}

Policy* policy(bool snoop, bool direct, bool completion, bool keeps_data, bool inclusive,
               bool forwarder, int grants, int pointers, int region, bool evicts) {
  return new Policy{.snoop = snoop,
                    .direct = direct,
                    .completion = completion,
                    .keeps_data = keeps_data,
                    .inclusive = inclusive,
                    .forwarder = forwarder,
                    .max_grants_before_probe = grants,
                    .pointers = pointers,
                    .region = region > 0 ? region : Policy{}.region,
                    .evicts = evicts};
}

}  // namespace

void bind_check(nb::module_& module) {
  using namespace nb::literals;
  module.def("protocol_names", &protocol_names,
             "Returns the names that the protocol tables use, in the order of packed cells.");
  nb::module_ proofs = module.def_submodule("check", "Proofs on the protocol tables.");
  nb::class_<Policy>(proofs, "Policy",
                     "The properties of a resolver on which the protocol depends.")
      .def(nb::new_(&policy), nb::kw_only(), "snoop"_a, "direct"_a, "completion"_a, "keeps_data"_a,
           "inclusive"_a, "forwarder"_a, "grants"_a, "pointers"_a, "region"_a, "evicts"_a);
  nb::class_<check::Tree>(proofs, "Tree", "A tree of cores, joins and a root that share one line.")
      .def(nb::init<const std::vector<std::vector<int>>&, const std::vector<Policy>&,
                    const std::vector<bool>&, int, bool, bool>(),
           "levels"_a, "policies"_a, "recalls"_a, "ahead"_a = 2, "far"_a = false,
           "far_owned"_a = false);
  proofs.def("walk", &walk, "cells"_a, "tree"_a, "states"_a, "tick"_a = nb::none(), "lines"_a = 1,
             "Visits every reachable state, but at most `states` of them.");
  proofs.def("trial", &trial, "cells"_a, "tree"_a, "lines"_a, "operations"_a, "seed"_a,
             "tick"_a = nb::none(),
             "Takes random steps until `operations` accesses have been checked.");
}

}  // namespace uncore
