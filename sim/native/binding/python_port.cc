// Binds classes Code and Hart: a hart whose port (hart/port.hh) is a Python object.
//
// `hart.run(port)` executes until a Stop, whose name it returns. It calls these functions of the
// port:
//
//   port.load(address, size)              port.store(address, size, value)
//   port.amo(op, address, size, operand, expected, order, posted)  posted: the value is not used
//   port.cas_pair(address, operand, expected, order)  operand, expected, result: pairs (low, high)
//   port.lr(address, size, order)
//   port.sc(address, size, value, order)  returns 0 if it has stored, 1 if it has failed
//   port.fence(predecessor, successor)    port.device(address, write, value)
//   port.has_device(address)              port.fetch(address, size) -> bytes
//   port.time()   port.cycle()   port.marker(code, value)   port.trapped(interrupt)
//   port.returned()   port.gave_up_attempt()   port.reserves_line()
//   port.foresee(address, size, count)    returns the value of a pre-executed load, None if it is
//                                         unknown, or False to end pre-execution
//
// A memory operation returns its value, or None if hart.resume(value) will complete it later.
// Invariant: the hart keeps no reference to the port, so that the port may own the hart.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hart/hart.hh"
#include "hart/preexecution.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

using Words = std::pair<uint64_t, uint64_t>;

const char* name(Amo op) {
  constexpr const char* names[] = {"swap", "add", "xor",  "and",  "or",
                                   "min",  "max", "minu", "maxu", "cas"};
  return names[static_cast<std::size_t>(op)];
}

const char* name(Stop stop) {
  constexpr const char* names[] = {"horizon", "later",          "retry",    "wfi",
                                   "awaits",  "awaits shortly", "semihost", "spin",
                                   "pause",   "fatal",          "overflow"};
  return names[static_cast<std::size_t>(stop)];
}

class PythonPort {
 public:
  explicit PythonPort(uint64_t ram_size) : ram_size_(ram_size) {}

  nb::handle object;  // the Python port; valid while the hart runs

  Answer load(uint64_t address, unsigned size, uint64_t& value) {
    return answer(object.attr("load")(address, size), value);
  }
  Answer store(uint64_t address, unsigned size, uint64_t value) {
    return answer(object.attr("store")(address, size, value), value);
  }
  Answer amo(Amo op, uint64_t address, unsigned size, uint64_t operand, uint64_t expected,
             uint64_t& old, unsigned order) {
    const bool posted = order == kUnused;
    return answer(
        object.attr("amo")(name(op), address, size, operand, expected, order & ~kUnused, posted),
        old);
  }
  Answer cas_pair(uint64_t address, Pair operand, Pair expected, Pair& old, unsigned order) {
    const nb::object reply = object.attr("cas_pair")(address, Words(operand.low, operand.high),
                                                     Words(expected.low, expected.high), order);
    if (reply.is_none()) return Answer::later;
    const auto [low, high] = nb::cast<Words>(reply);
    old = {low, high};
    return Answer::now;
  }
  Answer lr(uint64_t address, unsigned size, uint64_t& value, unsigned order) {
    return answer(object.attr("lr")(address, size, order), value);
  }
  Answer sc(uint64_t address, unsigned size, uint64_t value, uint64_t& sc_result, unsigned order) {
    return answer(object.attr("sc")(address, size, value, order), sc_result);
  }
  Answer fence(unsigned predecessor, unsigned successor) {
    uint64_t nothing;
    return answer(object.attr("fence")(predecessor, successor), nothing);
  }
  void fence_i() {}
  Answer mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
    if (!nb::cast<bool>(object.attr("has_device")(address))) return Answer::fault;
    return answer(object.attr("device")(address, write, value), value);
  }
  bool mapped(uint64_t address, unsigned size) const {
    return address - kRamBase + size <= ram_size_;
  }
  bool fetch(uint64_t address, uint32_t& word) {
    if (!mapped(address, 2)) return false;
    const auto bytes =
        nb::cast<nb::bytes>(object.attr("fetch")(address, mapped(address, 4) ? 4 : 2));
    word = 0;
    std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
    return true;
  }
  uint64_t time() { return nb::cast<uint64_t>(object.attr("time")()); }
  uint64_t cycle() { return nb::cast<uint64_t>(object.attr("cycle")()); }
  void marker(unsigned code, uint64_t value) { object.attr("marker")(code, value); }
  bool reserves_line() const { return nb::cast<bool>(object.attr("reserves_line")()); }
  void gave_up_attempt() { object.attr("gave_up_attempt")(); }
  void trapped(uint64_t, bool interrupt) { object.attr("trapped")(interrupt); }
  void returned() { object.attr("returned")(); }
  bool weak_order() const { return weak; }
  ForeseenLoad foresee(uint64_t address, unsigned size, unsigned count) {
    const nb::object reply = object.attr("foresee")(address, size, count);
    if (reply.is_none()) return {};
    if (reply.ptr() == Py_False) return {.what = ForeseenLoad::What::end};
    return {ForeseenLoad::What::value, nb::cast<uint64_t>(reply)};
  }

  bool weak = false;  // the hart is weakly ordered

 private:
  static Answer answer(const nb::object& reply, uint64_t& value) {
    if (reply.is_none()) return Answer::later;
    value = nb::cast<uint64_t>(reply);
    return Answer::now;
  }

  uint64_t ram_size_;
};

// A hart and the port that it calls.
struct PythonHart {
  PythonHart(Code& code, uint64_t id, uint64_t entry, uint64_t ram_size)
      : port(ram_size), hart(port, code, id) {
    hart.pc = entry;
    hart.spin_enabled = false;
  }
  PythonPort port;
  Hart<PythonPort> hart;
  Views views;
  bool followed = false;
};

const char* run(PythonHart& h, nb::handle port) {
  h.port.object = port;
  return name(h.followed ? h.hart.run_viewed(h.views) : h.hart.run());
}

void pre_execute(PythonHart& h, nb::handle port, unsigned window) {
  h.port.object = port;
  PreExecution(h.hart).go(window, [&](uint64_t address, unsigned size, unsigned count) {
    return h.port.foresee(address, size, count);
  });
}

uint64_t& argument(PythonHart& h, unsigned number) {
  if (number > 7) throw nb::index_error("a0 to a7");
  return h.hart.x[10 + number];
}

void bind_calls(nb::class_<PythonHart>& hart) {
  using namespace nb::literals;
  hart.def(nb::init<Code&, uint64_t, uint64_t, uint64_t>(), "code"_a, "id"_a, "entry"_a,
           "ram_size"_a, nb::keep_alive<1, 2>())
      .def("run", &run, "port"_a,
           "Executes the instructions that start by `horizon`; returns the name of the Stop.")
      .def("pre_execute", &pre_execute, "port"_a, "window"_a,
           "Pre-executes up to `window` instructions after the load that waits (rule H9).")
      .def(
          "resume",
          [](PythonHart& h, uint64_t value, uint64_t high) { h.hart.resume(value, high); },
          "value"_a, "high"_a = 0, "Completes the operation for which the port returned None.")
      .def(
          "interrupt",
          [](PythonHart& h, unsigned bit, bool level) { h.hart.interrupt(bit, level); }, "bit"_a,
          "level"_a, "Sets or clears a bit of mip.")
      .def(
          "set_cost",
          [](PythonHart& h, uint64_t instruction, uint64_t mispredict, uint64_t pause,
             uint64_t load_to_use) {
            h.hart.cost = {instruction, mispredict, pause, load_to_use};
            h.hart.code.finds_first_uses |= load_to_use > 0;
          },
          "instruction"_a, "mispredict"_a, "pause"_a, "load_to_use"_a,
          "Sets the costs, in ps, of instructions that start from now on.")
      .def(
          "argument", [](PythonHart& h, unsigned n) { return argument(h, n); }, "number"_a)
      .def(
          "set_argument", [](PythonHart& h, unsigned n, uint64_t value) { argument(h, n) = value; },
          "number"_a, "value"_a);
}

// Binds the state that Python may set and read while the hart does not run.
void bind_state(nb::class_<PythonHart>& hart) {
  using namespace nb::literals;
  hart.def(
          "set_stack",
          [](PythonHart& h, uint64_t end, uint64_t size) { h.hart.stack = {end, size, false}; },
          "end"_a, "size"_a, "Sets the end and the size, in bytes, of the stack.")
      .def(
          "follow", [](PythonHart& h) { h.followed = h.port.weak = true; },
          "Tracks the accesses on which registers depend, as on a weakly ordered hart.")
      .def_prop_rw(
          "whole", [](const PythonHart& h) { return h.hart.unsplit_bytes; },
          [](PythonHart& h, uint64_t whole) { h.hart.unsplit_bytes = whole; })
      .def_prop_ro("address_view", [](const PythonHart& h) { return h.views.address; })
      .def_prop_ro("data_view", [](const PythonHart& h) { return h.views.data; })
      .def_prop_rw(
          "result_view", [](const PythonHart& h) { return h.views.result; },
          [](PythonHart& h, uint64_t view) { h.views.result = view; })
      .def_prop_rw(
          "clock", [](const PythonHart& h) { return h.hart.clock; },
          [](PythonHart& h, uint64_t clock) { h.hart.clock = clock; })
      .def_prop_rw(
          "horizon", [](const PythonHart& h) { return h.hart.horizon; },
          [](PythonHart& h, uint64_t horizon) { h.hart.horizon = horizon; })
      .def_prop_ro("pc", [](const PythonHart& h) { return h.hart.pc; })
      .def_prop_ro("instructions", [](const PythonHart& h) { return h.hart.instructions; })
      .def_prop_ro("pauses", [](const PythonHart& h) { return h.hart.pauses; })
      .def_prop_ro("interruptible", [](const PythonHart& h) { return h.hart.interruptible(); })
      .def_prop_ro("wakes", [](const PythonHart& h) { return h.hart.wakes(); })
      .def_prop_ro("fatal_cause", [](const PythonHart& h) { return h.hart.fatal.cause; });
}

}  // namespace

void bind_port(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Code>(module, "Code", "The decoded instructions of a program, which all harts share.")
      .def(nb::init<uint64_t, uint64_t>(), "base"_a, "size"_a);
  nb::class_<PythonHart> hart(module, "Hart", "A hart whose port is a Python object.");
  bind_calls(hart);
  bind_state(hart);
}

}  // namespace uncore
