// CSRs, traps and interrupts of a hart, and the instructions that end in one. Part of hart.hh.
#pragma once

namespace uncore {

// ---- CSRs

template <class Port>
bool Hart<Port>::csr(const Instruction& in, uint64_t operand, bool writes) {
  const auto number = static_cast<unsigned>(in.imm);
  uint64_t old;
  if (!csr_.permits(number) || !read_csr(number, old)) return illegal();
  if (writes && CsrNumber::read_only(number)) return illegal();
  spin_.effect();
  x[in.rd] = old;
  // Retired first: a counter that is written counts from the next instruction on.
  retire(in.length, cost.instruction);
  if (!writes) return true;
  if (in.op == Op::csrrs || in.op == Op::csrrsi) operand = old | operand;
  if (in.op == Op::csrrc || in.op == Op::csrrci) operand = old & ~operand;
  write_csr(number, operand);
  return true;
}

template <class Port>
bool Hart<Port>::read_csr(unsigned number, uint64_t& value) {
  switch (number) {
    case CsrNumber::mcycle:
    case CsrNumber::cycle:
      value = port_.cycle() + cycle_offset_;
      return true;
    case CsrNumber::minstret:
    case CsrNumber::instret:
      value = instructions + instret_offset_;
      return true;
    case CsrNumber::time:
      value = port_.time();
      return true;
    case CsrNumber::stimecmp:
      return get_timer(value);
    default:
      return csr_.read(number, value) || get_external(number, value);
  }
}

template <class Port>
bool Hart<Port>::write_csr(unsigned number, uint64_t value) {
  if (number == CsrNumber::mcycle) {
    cycle_offset_ = value - port_.cycle();
  } else if (number == CsrNumber::minstret) {
    instret_offset_ = value - instructions;
  } else if (number == CsrNumber::stimecmp) {
    return set_timer(value);
  } else if (!csr_.write(number, value) && !set_external(number, value)) {
    return false;
  }
  if (number == CsrNumber::satp && mmu_) mmu_->forget();
  changed();
  return true;
}

// ---- traps and interrupts

// False: the trap cannot be delivered, the hart stops for good.
template <class Port>
bool Hart<Port>::trap(uint64_t cause, uint64_t tval, bool interrupt) {
  const uint64_t handler = csr_.handler(cause, interrupt);
  const bool delegated = csr_.delegates(cause, interrupt);
  const bool again = cause == kFetchFault && handling_ && !delegated;
  const bool endless = !interrupt && (pc == handler || again);
  const bool there = delegated ? handler != 0 : handler >= kRamBase && port_.mapped(handler, 4);
  if (!there || endless) {
    fatal = {interrupt ? cause | kInterruptBit : cause, tval, pc};
    return stop(Stop::fatal);
  }
  spin_.effect();
  csr_.enter(pc, cause, tval, interrupt);
  pc = handler;
  handling_ = true;
  changed();
  if (mmu_) mmu_->walk.active = false;
  port_.trapped(cause, interrupt);
  if (!interrupt) clock += cost.instruction;
  return true;
}

template <class Port>
bool Hart<Port>::mret() {
  if (csr_.mode != Mode::machine) return illegal();
  spin_.effect();
  retire(0, cost.instruction);
  pc = csr_.leave();
  handling_ = false;
  changed();
  port_.returned();
  return true;
}

// Not between the two parts of an access.
template <class Port>
bool Hart<Port>::interrupted() {
  return halfway() || trap(csr_.highest(), 0, true);
}

template <class Port>
void Hart<Port>::interrupt(unsigned bit, bool level) {
  const uint64_t mask = uint64_t{1} << bit;
  csr_.mip = level ? csr_.mip | mask : csr_.mip & ~mask;
  attention_ = interruptible();
}

// Retires before it sleeps, so that an interrupt that ends the sleep returns behind it.
template <class Port>
bool Hart<Port>::wfi() {
  if (!csr_.may_wait()) return illegal();
  spin_.effect();
  retire(4, cost.instruction);
  waiting_ = !wakes();
  return waiting_ ? stop(Stop::wfi) : true;
}

template <class Port>
bool Hart<Port>::illegal() {
  uint32_t word = 0;
  port_.fetch(mmu_ ? mmu_->window.address + pc % kPageBytes : pc, word);
  return trap(kIllegalInstruction, (word & 3) == 3 ? word : word & 0xffff);
}

// A breakpoint, unless it stands between the two marks of a semihosting call.
template <class Port>
bool Hart<Port>::ebreak(const Instruction& in) {
  constexpr uint32_t kBefore = 0x01f01013, kAfter = 0x40705013;  // slli, srai of x0
  uint32_t before = 0, after = 0;
  const bool bare = !mmu_ || csr_.mode == Mode::machine;
  if (bare && in.length == 4 && port_.fetch(pc - 4, before) && before == kBefore &&
      port_.fetch(pc + 4, after) && after == kAfter) {
    spin_.effect();
    retire(in.length, cost.instruction);
    return stop(Stop::semihost);
  }
  return trap(kBreakpoint, mmu_ ? pc : 0);
}

// ---- the supervisor's timer (Sstc), where the port has one

template <class Port>
bool Hart<Port>::set_timer(uint64_t when) {
  if constexpr (requires(Port& p) { p.set_timer(when); }) {
    if (csr_.supervised) return port_.set_timer(when), true;
  }
  return false;
}

template <class Port>
bool Hart<Port>::get_timer(uint64_t& when) {
  if constexpr (requires(Port& p) { when = p.timer(); }) {
    if (csr_.supervised) return when = port_.timer(), true;
  }
  return false;
}

// ---- the supervisor's external interrupts (Ssaia), where the port has them

template <class Port>
bool Hart<Port>::get_external(unsigned number, uint64_t& value) {
  if constexpr (requires(Port& p) { p.get_external(number, value); }) {
    if (!csr_.supervised) return false;
    if (number == CsrNumber::stopi) return value = csr_.top(), port_.told(value >> 16), true;
    return port_.get_external(number, value);
  }
  return false;
}

template <class Port>
bool Hart<Port>::set_external(unsigned number, uint64_t value) {
  if constexpr (requires(Port& p) { p.set_external(number, value); })
    return csr_.supervised && port_.set_external(number, value);
  return false;
}

}  // namespace uncore
