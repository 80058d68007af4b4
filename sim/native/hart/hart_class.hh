// The class of a hart: its interface, and its parts for the functions of namespace `execute`. What
// it is and how it is used stands in hart.hh, which environments include.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hart/code.hh"
#include "hart/floating.hh"
#include "hart/ieee.hh"
#include "hart/instruction.hh"
#include "hart/port.hh"
#include "hart/predictor.hh"
#include "hart/privilege.hh"
#include "hart/spin.hh"
#include "hart/state.hh"
#include "hart/views.hh"
#include "mmu/mmu.hh"

namespace uncore {

template <class Port>
class Translation;

template <class Port>
class Hart : public HartState {
 public:
  Hart(Port& port, Code& code, uint64_t id) : port(port), code(code), privilege(id) {}

  // --- running (interpreter.hh)
  Stop run();
  // run(), from an instruction that the caller knows; null: it does not.
  Stop run_from(Instruction*& at, bool steady);
  // run(), which tells `views` of each instruction.
  Stop run_viewed(Views& views);
  // Completes the access that was answered `later` (a load, amo, lr or mmio read: its value; sc: 1
  // if it failed; store, fence: anything). The instruction retires at the present clock.
  void resume(uint64_t value, uint64_t high = 0);
  bool suspended() const { return access.suspended; }
  // Where the instruction stands that it executes, while run() keeps the pc to itself.
  uint64_t pc_of(const Instruction& in) const { return &in == apart ? pc : code.address(in); }
  // Between the two accesses of an instruction?
  bool halfway() const { return access.halfway(); }

  // --- spinning and sleeping
  // Has it had no effect since it was last at an instruction where it may wait?
  bool may_wait() const { return spin.looks(); }
  // What it read while it waited has changed: look for a waiting loop anew.
  void woken() { spin.effect(); }
  // After Stop::spin: what executing n more periods would do.
  void skip(uint64_t n);
  bool waiting() const { return asleep; }
  // Would a wfi fall through? (Pending and enabled in mie; mstatus.MIE does not matter.)
  bool wakes() const { return privilege.wakes(); }

  // --- privilege
  Mode mode() const { return privilege.mode; }
  // The mode in which it goes on.
  void set_mode(Mode mode) {
    privilege.mode = mode;
    privilege_changed();
  }
  // Gives it supervisor mode and translation. Before it runs.
  void supervise(TlbSpec tlb);
  // What sfence.vma and fence.i do, by another hart's order.
  void flush(std::optional<uint64_t> address, std::optional<uint16_t> asid);
  void forget_code();
  // Sets or clears a bit of mip.
  void interrupt(unsigned number, bool level) {
    privilege.set_pending(number, level);
    attention = interruptible();
  }
  // Would an interrupt be taken at the next boundary?
  bool interruptible() const { return privilege.takeable() != 0; }
  // What the instructions would see; false = no such CSR (or, to write, a read-only register).
  bool read_csr(unsigned number, uint64_t& value);
  bool write_csr(unsigned number, uint64_t value);

  // --- for its instructions
  // What decides about interrupts, or as whom it asks for memory, may have changed.
  void privilege_changed();
  // Ends run(). The answer of an instruction that stops: false.
  bool stop(Stop why) {
    stopped = why;
    return false;
  }

  Port& port;
  Code& code;
  AccessState access;
  Stop stopped = Stop::horizon;  // what run() returns when an instruction stops
  bool asleep = false;           // in a wfi
  bool attention = false;        // an interrupt is to be taken: interruptible(), at each change
  bool handling = false;         // between a trap and its return
  bool attempting = false;       // between an LR and its SC
  Instruction apart[3];          // the instruction at pc where the table has none, then undecoded
  uint64_t cycle_offset = 0, instret_offset = 0;  // what the guest wrote to mcycle, minstret
  Privilege privilege;
  FloatStatus floats;
  Predictor predictor;
  SpinDetector spin;
  std::unique_ptr<Translation<Port>> translation;  // null: neither supervisor mode nor translation
};

}  // namespace uncore
