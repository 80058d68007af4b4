// The class of a hart: its interface, and its data members for the functions of namespace
// `execute`. hart.hh, which environments include, explains a hart and its use.
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
  // Does what run() does. `at`: the instruction at pc, or null if the caller does not know it.
  Stop run_from(Instruction*& at, bool steady);
  // Does what run() does, and reports each instruction to `views`.
  Stop run_viewed(Views& views);
  // Completes the access that was answered `later`. `value`: the value read by a load, amo, lr or
  // mmio read; for an sc, 1 if it failed; ignored for a store or fence. The instruction retires at
  // the present clock.
  void resume(uint64_t value, uint64_t high = 0);
  bool suspended() const { return access.suspended; }
  // Returns the address of the instruction being executed; within run(), pc may not be up to date.
  uint64_t pc_of(const Instruction& in) const { return &in == lone_code ? pc : code.address(in); }
  // Returns true between the two accesses of a split load or store.
  bool halfway() const { return access.halfway(); }

  // --- spinning and sleeping
  // Returns true if the hart may be waiting: it has had no effect since the spin detector's
  // snapshot.
  bool may_wait() const { return spin.has_snapshot(); }
  // Called when memory that the waiting hart reads has changed. Restarts the search for a waiting
  // loop.
  void woken() { spin.note_effect(); }
  // Has the effect of executing n more iterations of the spin loop. Called after Stop::spin.
  void skip(uint64_t n);
  bool waiting() const { return asleep; }
  // Returns true if an interrupt is pending and enabled in mie, so that wfi does not wait.
  // (mstatus.MIE does not matter.)
  bool wakes() const { return privilege.wakes(); }

  // --- privilege
  Mode mode() const { return privilege.mode; }
  // Sets the privilege mode of the hart.
  void set_mode(Mode mode) {
    privilege.mode = mode;
    privilege_changed();
  }
  // Adds supervisor mode and address translation to the hart. Called before it runs.
  void supervise(TlbSpec tlb);
  // Remote fences: perform sfence.vma and fence.i on behalf of another hart.
  void flush(std::optional<uint64_t> address, std::optional<uint16_t> asid);
  void forget_code();
  // Sets or clears a bit of mip.
  void interrupt(unsigned number, bool level) {
    privilege.set_pending(number, level);
    attention = interruptible();
  }
  // Returns true if an interrupt would be taken at the next instruction boundary.
  bool interruptible() const { return privilege.takeable() != 0; }
  // Read and write a CSR as instructions do. They return false if the CSR does not exist or, for a
  // write, is read-only.
  bool read_csr(unsigned number, uint64_t& value);
  bool write_csr(unsigned number, uint64_t value);

  // --- called by the hart's instructions
  // Called when state that decides about interrupts or about access rights may have changed.
  void privilege_changed();
  // Ends run(). Returns false, as every instruction that stops the hart does.
  bool stop(Stop why) {
    stopped = why;
    return false;
  }

  Port& port;
  Code& code;
  AccessState access;
  Stop stopped = Stop::horizon;  // value that run() returns when an instruction stops
  bool asleep = false;           // the hart sleeps in a wfi
  bool attention = false;        // an interrupt must be taken; always equal to interruptible()
  bool handling = false;         // the hart is between a trap and the return from it
  bool attempting = false;       // the hart is between an LR and its SC
  Instruction lone_code[3];  // the instruction at pc if it is not in the table, then undecoded ones
  uint64_t cycle_offset = 0, instret_offset = 0;  // set by writes of mcycle and minstret
  Privilege privilege;
  FloatStatus floats;
  Predictor predictor;
  SpinDetector spin;
  // Null if the hart has neither supervisor mode nor translation.
  std::unique_ptr<Translation<Port>> translation;
};

}  // namespace uncore
