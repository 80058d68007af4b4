// System instructions: CSR accesses, returns from traps, wfi, fence.i and sfence.vma, calls of the
// environment, markers (isa/system.def, isa/hints.def).
#pragma once

#include <utility>

#include "hart/csr_access.hh"
#include "hart/traps.hh"

namespace uncore::execute {

// Executes a CSR instruction. It retires before the CSR is written: a counter that is written
// counts from the next instruction on.
template <class Port>
bool csr(Hart<Port>& h, const Instruction& in, uint64_t operand, bool writes) {
  const auto number = static_cast<unsigned>(in.imm);
  if (CsrNumber::lowest_mode(number) > 0 && is_confined(h.port)) return h.stop(Stop::retry);
  uint64_t old;
  if (!h.privilege.permits(number) || !h.read_csr(number, old)) return trap_illegal(h);
  if (writes && CsrNumber::read_only(number)) return trap_illegal(h);
  h.spin.note_effect();
  h.x[in.rd] = old;
  h.retire(in.length, h.cost.instruction);
  if (!writes) return true;
  if (in.op == Op::csrrs || in.op == Op::csrrsi) operand = old | operand;
  if (in.op == Op::csrrc || in.op == Op::csrrci) operand = old & ~operand;
  h.write_csr(number, operand);
  return true;
}

template <class Port>
bool ecall(Hart<Port>& h) {
  return trap(h, kUserEcall + static_cast<uint64_t>(h.mode()), 0);
}

// Executes an ebreak. It is a breakpoint, unless it is between the two marking instructions of a
// semihosting call.
template <class Port>
bool ebreak(Hart<Port>& h, const Instruction& in) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  constexpr uint32_t kBefore = 0x01f01013, kAfter = 0x40705013;  // slli, srai of x0
  uint32_t before = 0, after = 0;
  const bool bare = !h.translation || h.mode() == Mode::machine;
  if (bare && in.length == 4 && h.port.fetch(h.pc - 4, before) && before == kBefore &&
      h.port.fetch(h.pc + 4, after) && after == kAfter) {
    h.spin.note_effect();
    h.retire(in.length, h.cost.instruction);
    return h.stop(Stop::semihost);
  }
  return trap(h, kBreakpoint, h.translation ? h.pc : 0);
}

template <class Port>
bool return_from(Hart<Port>& h, Mode handler) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  h.spin.note_effect();
  h.retire(0, h.cost.instruction);
  h.pc = h.privilege.leave(handler);
  h.handling = false;
  h.privilege_changed();
  h.port.returned();
  return true;
}
template <class Port>
bool mret(Hart<Port>& h) {
  return h.mode() == Mode::machine ? return_from(h, Mode::machine) : trap_illegal(h);
}
template <class Port>
bool sret(Hart<Port>& h) {
  return h.privilege.may_sret() ? return_from(h, Mode::supervisor) : trap_illegal(h);
}

// Executes a wfi. It retires before the hart sleeps, so that an interrupt handler returns to the
// instruction after it.
template <class Port>
bool wfi(Hart<Port>& h) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  if (!h.privilege.may_wfi()) return trap_illegal(h);
  h.spin.note_effect();
  h.retire(4, h.cost.instruction);
  h.asleep = !h.wakes();
  return h.asleep ? h.stop(Stop::wfi) : true;
}

// Executes a wrs.nto or wrs.sto (Zawrs). It retires before the hart stalls, and ends the lock of
// the hart's LR. If the port has no reservations, the hart does not stall.
template <class Port>
bool wait_on_reservation(Hart<Port>& h, Stop stall) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  h.spin.note_effect();
  if (std::exchange(h.attempting, false)) h.port.gave_up_attempt();
  bool stalls = false;
  if constexpr (requires { h.port.reserves_line(); }) stalls = h.port.reserves_line() && !h.wakes();
  if (stalls && stall == Stop::awaits && !h.privilege.may_stall()) return trap_illegal(h);
  h.retire(4, h.cost.instruction);
  return stalls ? h.stop(stall) : true;
}

// Executes sfence.vma, for one address or all, and for one address space or all (privileged manual
// 4.2.1).
template <class Port>
bool sfence_vma(Hart<Port>& h, const Instruction& in) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  if (!h.privilege.may_sfence()) return trap_illegal(h);
  std::optional<uint64_t> address;
  std::optional<uint16_t> asid;
  if (in.rs1 != 0) address = h.x[in.rs1];
  if (in.rs2 != 0) asid = static_cast<uint16_t>(h.x[in.rs2]);
  h.flush(address, asid);
  h.retire(in.length, h.cost.instruction);
  return true;
}

template <class Port>
bool fence_i(Hart<Port>& h, const Instruction& in) {
  if (is_confined(h.port)) return h.stop(Stop::retry);
  h.spin.note_effect();
  h.retire(in.length, h.cost.instruction);
  h.code.drop();
  if (h.translation) h.forget_code();
  h.port.fence_i();
  return true;
}

template <class Port>
bool marker(Hart<Port>& h, const Instruction& in) {
  const unsigned code = in.imm & 0xfff;
  if constexpr (requires { h.port.marks_inside(code); })
    if (is_confined(h.port) && !h.port.marks_inside(code)) return h.stop(Stop::retry);
  h.spin.note_effect();
  h.port.marker(code, h.x[in.rs1]);
  h.retire(in.length, h.cost.instruction);
  return true;
}

}  // namespace uncore::execute
