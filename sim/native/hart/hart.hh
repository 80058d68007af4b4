// A RISC-V hart: RV64GC, Zba, Zbb, Zbs, Zicntr, Zihintpause, Zacas, Zabha; machine and user mode,
// and supervisor mode where the environment asks for it (supervise()).
//
// A library of its own: no event queue, no cache. It decodes, executes and counts; whatever orders
// memory is its port (port.hh). An environment drives it:
//
//     Code code(text_base, text_size);           // decoded text, shared by all harts of a machine
//     Hart<MyPort> hart(port, code, hart_id);    // pc, cost, horizon are plain fields: set them
//     switch (hart.run()) { ... }                // runs until a Stop, see state.hh
//
// Where what stands. isa/ has an instruction or a CSR a line; interpreter.hh is the loop; what an
// instruction does that is more than a value is a function of loads_stores.hh, atomics.hh,
// control_flow.hh, system.hh or float_instructions.hh; traps.hh enters traps, privilege.hh has the
// rules and CSRs of traps; translation.hh translates addresses. These functions use the parts of a
// Hart, which are public for them; an environment uses its state (state.hh) and its methods.
//
// Time. An instruction starts at `clock`; its port access happens then; when it retires the clock
// advances by cost.instruction (a pause: by cost.pause instead), plus cost.mispredict for a
// conditional branch that was predicted wrongly, plus whatever the port added. An instruction that
// raises an exception costs cost.instruction and does not count. An interrupt is taken at the first
// boundary and costs nothing here: the port hears trapped() and charges it.
//
// Misaligned loads and stores of memory are performed; an access that crosses a boundary of `whole`
// bytes is two, between which no interrupt is taken. Misaligned atomics and accesses to devices
// trap (cause 4 or 6).
//
// An environment that is itself the kernel of a program in user mode (set_mode()) leaves mtvec at
// 0: every trap then ends run() as Stop::fatal, with the hart at its instruction.
//
// Spin loops. run() returns Stop::spin when the guest repeats itself: it came back to an
// instruction with registers and branch predictor unchanged, without any effect in between (see
// spin.hh), twice in a row at equal cost. While the memory that the loop reads does not change,
// skip(n) is exactly what executing n more periods would do. Between two runs memory may change
// unseen, so a turn counts only if it lies within a run, unless the environment says otherwise
// (`undisturbed`).
//
// Invariant: between calls of run() the hart is at an instruction boundary, or suspended on the
// access that was answered `later`.
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
  AccessInProgress access;
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

#include "hart/interpreter.hh"  // IWYU pragma: export
