// Binds class FlatMachine: the hart library on flat memory.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "doubles/flat_machine.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

using Segments = std::vector<std::pair<uint64_t, nb::bytes>>;

Answer answer(const std::string& name) {
  if (name == "now") return Answer::now;
  if (name == "later") return Answer::later;
  if (name == "retry") return Answer::retry;
  throw nb::value_error("answers is 'now', 'later' or 'retry'");
}

const char* name(FlatMachine::End end) {
  switch (end) {
    case FlatMachine::End::time:
      return "time";
    case FlatMachine::End::exit:
      return "exit";
    case FlatMachine::End::fatal:
      return "fatal";
    case FlatMachine::End::idle:
      return "idle";
  }
  return "";
}

void write(FlatMachine& machine, uint64_t address, const nb::bytes& data) {
  const auto to = machine.memory(address, data.size());
  std::copy_n(static_cast<const uint8_t*>(data.data()), data.size(), to.begin());
  ++machine.changes;
}

nb::bytes read(FlatMachine& machine, uint64_t address, uint64_t size) {
  const auto from = machine.memory(address, size);
  return nb::bytes(from.data(), from.size());
}

FlatMachine* make(const Segments& segments, uint64_t entry, unsigned harts, uint64_t ram_size,
                  uint64_t quantum, const std::string& answers, bool spin, uint64_t mispredict,
                  uint64_t pause, uint64_t warming, uint32_t tlb) {
  auto machine = std::make_unique<FlatMachine>(harts, ram_size, entry, quantum, answer(answers));
  for (const auto& [address, data] : segments) write(*machine, address, data);
  for (unsigned id = 0; id < harts; ++id) {
    machine->hart(id).cost = {.instruction = 1, .mispredict = mispredict, .pause = pause};
    machine->hart(id).spin_enabled = spin;
  }
  machine->warming = warming;
  if (tlb) machine->supervise(tlb);
  return machine.release();
}

uint64_t csr(FlatMachine& machine, unsigned hart, unsigned number) {
  uint64_t value;
  if (machine.hart(hart).read_csr(number, value)) return value;
  throw nb::value_error("no such CSR");
}

std::vector<uint64_t> registers(FlatMachine& machine, unsigned hart) {
  const uint64_t* x = machine.hart(hart).x;
  return {x, x + kSink};
}

nb::dict counters(FlatMachine& machine, unsigned id) {
  const auto& hart = machine.hart(id);
  nb::dict out;
  out["clock"] = hart.clock;
  out["instructions"] = hart.instructions;
  out["branches"] = hart.branches;
  out["mispredicts"] = hart.mispredicts;
  return out;
}

std::pair<uint64_t, uint64_t> spins(FlatMachine& machine, unsigned hart) {
  return {machine.port(hart).spins, machine.port(hart).periods_skipped};
}

std::vector<std::tuple<unsigned, unsigned, uint64_t>> markers(const FlatMachine& machine) {
  std::vector<std::tuple<unsigned, unsigned, uint64_t>> out;
  for (const auto& m : machine.markers) out.emplace_back(m.hart, m.code, m.value);
  return out;
}

using Mark = std::tuple<uint64_t, std::optional<uint64_t>, std::optional<uint64_t>>;

std::vector<Mark> marks(const FlatMachine& machine) {
  std::vector<Mark> out;
  for (const auto& [hart, code, value, marked] : machine.markers)
    out.emplace_back(marked.operations, marked.latency, marked.delay);
  return out;
}

// Binds functions by which a test changes a hart, such as interrupt().
void bind_harts(nb::class_<FlatMachine>& machine) {
  using namespace nb::literals;
  machine
      .def(
          "interrupt",
          [](FlatMachine& m, unsigned hart, unsigned bit, bool level) {
            m.hart(hart).interrupt(bit, level);
          },
          "hart"_a, "bit"_a, "level"_a)
      .def(
          "fatal",
          [](FlatMachine& m, unsigned hart) {
            const Fatal& f = m.hart(hart).fatal;
            return std::tuple(f.cause, f.tval, f.pc);
          },
          "hart"_a = 0, "cause, tval and pc of the trap that ended the run")
      .def(
          "go_on",
          [](FlatMachine& m, uint64_t pc, unsigned hart) {
            m.hart(hart).pc = pc;
            m.hart(hart).set_mode(Mode::user);
          },
          "pc"_a, "hart"_a = 0, "Continues at `pc` in user mode.");
}

}  // namespace

void bind_flat(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<FlatMachine> machine(module, "FlatMachine",
                                  "Harts on flat memory, for tests of the hart.");
  bind_harts(machine);
  machine
      .def(nb::new_(&make), "segments"_a, "entry"_a, "harts"_a = 1, "ram_size"_a = 1 << 20,
           "quantum"_a = 1, "answers"_a = "now", "spin"_a = true, "mispredict"_a = 0, "pause"_a = 1,
           "warming"_a = 0, "tlb"_a = 0)
      .def(
          "run", [](FlatMachine& m, uint64_t ticks) { return name(m.run(ticks)); }, "ticks"_a,
          "Runs all harts for `ticks`. Returns 'exit', 'fatal', 'idle' (no hart will wake) or "
          "'time'.")
      .def("step", &FlatMachine::step, "hart"_a = 0)
      .def("registers", &registers, "hart"_a = 0)
      .def(
          "pc", [](FlatMachine& m, unsigned hart) { return m.hart(hart).pc; }, "hart"_a = 0)
      .def("counters", &counters, "hart"_a = 0)
      .def("csr", &csr, "hart"_a, "number"_a)
      .def("read", &read, "address"_a, "size"_a)
      .def("write", &write, "address"_a, "data"_a)
      .def("markers", &markers, "Returns (hart, code, value) of each marker.")
      .def("marks", &marks,
           "Returns (operations ended, latency of each, delay in ns) for each marker.")
      .def_prop_ro("console", [](const FlatMachine& m) { return m.console.text; })
      .def("spins", &spins, "hart"_a = 0,
           "Returns how often the hart was found spinning, and the number of skipped iterations.")
      .def_prop_ro("now", &FlatMachine::now)
      .def_prop_ro("exit_code", [](const FlatMachine& m) -> nb::object {
        return m.exit_code ? nb::cast(*m.exit_code) : nb::none();
      });
}

}  // namespace uncore
