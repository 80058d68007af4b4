// The class of a hart: its interface, and its parts for the functions of namespace `execute`.
// hart.hh, which environments include, says what it is and how it is used.
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
  // run(), from the instruction at pc if the caller knows it; null: it does not.
  Stop run_from(Instruction*& at, bool steady);
  // run(), but reports each instruction to `views`.
  Stop run_viewed(Views& views);
  // Completes the access that was answered `later` (a load, amo, lr or mmio read: its value; sc: 1
  // if it failed; store, fence: anything). The instruction retires at the present clock.
  void resume(uint64_t value, uint64_t high = 0);
  bool suspended() const { return access.suspended; }
  // Returns the address of the instruction that is being executed, while run() has not updated pc.
  uint64_t pc_of(const Instruction& in) const { return &in == lone_code ? pc : code.address(in); }
  // Is the hart between the two accesses of an instruction?
  bool halfway() const { return access.halfway(); }

  // --- spinning and sleeping
  // Has the hart had no effect since the spin detector took its snapshot, so that it may be
  // waiting?
  bool may_wait() const { return spin.looks(); }
  // Called when what the hart read while it waited has changed: looks for a waiting loop anew.
  void woken() { spin.effect(); }
  // Does what executing n more periods would do. Called after Stop::spin.
  void skip(uint64_t n);
  bool waiting() const { return asleep; }
  // Would a wfi fall through? (Pending and enabled in mie; mstatus.MIE does not matter.)
  bool wakes() const { return privilege.wakes(); }

  // --- privilege
  Mode mode() const { return privilege.mode; }
  // Sets the mode in which the hart goes on.
  void set_mode(Mode mode) {
    privilege.mode = mode;
    privilege_changed();
  }
  // Gives the hart supervisor mode and translation. Called before it runs.
  void supervise(TlbSpec tlb);
  // Remote fences: do what sfence.vma and fence.i do, on behalf of another hart.
  void flush(std::optional<uint64_t> address, std::optional<uint16_t> asid);
  void forget_code();
  // Sets or clears a bit of mip.
  void interrupt(unsigned number, bool level) {
    privilege.set_pending(number, level);
    attention = interruptible();
  }
  // Would an interrupt be taken at the next boundary?
  bool interruptible() const { return privilege.takeable() != 0; }
  // Read and write a CSR as instructions do. Return false if there is no such CSR or, to write, if
  // it is read-only.
  bool read_csr(unsigned number, uint64_t& value);
  bool write_csr(unsigned number, uint64_t value);

  // --- called by the hart's instructions
  // Called when what decides about interrupts, or the mode in which it accesses memory, may have
  // changed.
  void privilege_changed();
  // Ends run(). Returns false, as an instruction that stops does.
  bool stop(Stop why) {
    stopped = why;
    return false;
  }

  Port& port;
  Code& code;
  AccessState access;
  Stop stopped = Stop::horizon;  // value that run() returns when an instruction stops
  bool asleep = false;           // in a wfi
  bool attention = false;        // an interrupt is to be taken: kept equal to interruptible()
  bool handling = false;         // between a trap and its return
  bool attempting = false;       // between an LR and its SC
  Instruction lone_code[3];      // the instruction at pc if the table has none, then undecoded ones
  uint64_t cycle_offset = 0, instret_offset = 0;  // set by writes of mcycle and minstret
  Privilege privilege;
  FloatStatus floats;
  Predictor predictor;
  SpinDetector spin;
  std::unique_ptr<Translation<Port>> translation;  // null: neither supervisor mode nor translation
};

}  // namespace uncore
