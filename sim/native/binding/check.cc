// The protocol for Python: the names its tables are made of, the walker and the random tester.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "coherence/protocol.hh"

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
  add("states", name::states);
  add("client_events", name::client_events);
  add("client_actions", name::client_actions);
  add("children", name::children);
  add("requests", name::requests);
  add("resolver_actions", name::resolver_actions);
  add("answers", name::answers);
  add("phases", name::phases);
  add("probes", name::probes);
  add("join_actions", name::join_actions);
  return out;
}

}  // namespace

void bind_check(nb::module_& module) {
  module.def("protocol_names", &protocol_names,
             "The names the protocol tables are made of, in the order in which cells are packed.");
}

}  // namespace uncore
