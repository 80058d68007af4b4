// Enters traps and interrupts (privileged manual 3.1.7, 3.1.8; rule I1 gives their time).
// privilege.hh updates the CSRs.
//
// Every function of namespace `execute` either retires its instruction (once), enters a trap, or
// leaves the hart unchanged and stops it. It returns true if the hart continues at pc, false if
// run() must return Hart::stopped.
#pragma once

#include "hart/addressing.hh"
#include "hart/hart_class.hh"

namespace uncore::execute {

// Returns true if the handler can be entered: it exists, and entering it would not trap for ever.
template <class Port>
bool is_deliverable(const Hart<Port>& h, uint64_t cause, bool interrupt, uint64_t handler) {
  const bool delegated = h.privilege.delegates(cause, interrupt);
  const bool nested = cause == kFetchFault && h.handling && !delegated;
  if (!interrupt && (h.pc == handler || nested)) return false;
  return delegated ? handler != 0 : handler >= kRamBase && h.port.mapped(handler, 4);
}

// Enters a trap. If it cannot be delivered, the hart stops with Stop::fatal.
template <class Port>
bool trap(Hart<Port>& h, uint64_t cause, uint64_t tval, bool interrupt = false) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  const uint64_t handler = h.privilege.handler(cause, interrupt);
  if (!is_deliverable(h, cause, interrupt, handler)) {
    h.fatal = {interrupt ? cause | kInterruptBit : cause, tval, h.pc};
    return h.stop(Stop::fatal);
  }
  h.spin.note_effect();
  h.privilege.enter(h.pc, cause, tval, interrupt);
  h.pc = handler;
  h.handling = true;
  h.privilege_changed();
  if (h.translation) h.translation->abandon_walk();
  h.port.trapped(cause, interrupt);
  if (!interrupt) h.clock += h.cost.instruction;
  return true;
}

// Takes the interrupt of highest priority, but not between the two halves of a split access.
// Entering the trap takes time, so that its handler may begin after the horizon; then the hart
// stops.
template <class Port>
bool take_interrupt(Hart<Port>& h) {
  if (h.halfway()) return true;
  if (!trap(h, h.privilege.highest(), 0, true)) return false;
  return h.clock <= h.horizon || h.stop(Stop::horizon);
}

// Ends an instruction whose access could not be translated: traps, or stops the hart.
template <class Port>
bool trap_unreached(Hart<Port>& h, Reach why, uint64_t address) {
  if (why.end == Reach::End::retry) return h.stop(Stop::retry);
  if (why.end == Reach::End::later) return h.stop(Stop::later);
  return trap(h, why.cause, address);
}

template <class Port>
bool trap_illegal(Hart<Port>& h) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  uint32_t word = 0;
  const uint64_t physical =
      h.translation ? h.translation->mmu.window.address + h.pc % kPageBytes : h.pc;
  h.port.fetch(physical, word);
  return trap(h, kIllegalInstruction, (word & 3) == 3 ? word : word & 0xffff);
}

}  // namespace uncore::execute
