// A hart's privilege mode, the CSRs of traps, and the rules for taking, delegating and returning
// from traps (privileged manual, chapters 3 and 4).
//
// The hart has machine and user mode, and also supervisor mode if it is `supervised`. isa/csrs.def
// defines which of these CSRs instructions can access, and what they may write.
//
// Invariant: every field has a legal value.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "hart/csr.hh"
#include "hart/mstatus.hh"
#include "mmu/page_table.hh"

namespace uncore {

// Returns the bits of misa for extensions given by their letters.
constexpr uint64_t extensions(const char* letters) {
  uint64_t bits = 0;
  for (; *letters; ++letters) bits |= uint64_t{1} << (*letters - 'A');
  return bits;
}

// The trap CSRs of a mode: mtvec, mscratch, ... or stvec, sscratch, ...
struct TrapCsrs {
  uint64_t tvec = 0, scratch = 0, epc = 0, cause = 0, tval = 0, counteren = 0;
};

class Privilege {
 public:
  explicit Privilege(uint64_t hart) : mhartid(hart) {}

  const uint64_t mhartid;
  bool supervised = false;
  Mode mode = Mode::machine;
  Mstatus mstatus;
  TrapCsrs m, s;
  uint64_t mie = 0, mip = 0, medeleg = 0, mideleg = 0, senvcfg = 0;
  Satp satp;

  void supervise() {
    supervised = true;
    mstatus.supervise();
  }
  bool in_user_mode() const { return mode == Mode::user; }
  // Returns true if the present mode may execute an instruction that is forbidden in user mode, and
  // in supervisor mode if mstatus field `trapped` is set.
  bool supervises(Mstatus::Field trapped) const {
    return supervised && !in_user_mode() && !(mstatus.has(trapped) && mode == Mode::supervisor);
  }
  bool may_sret() const { return supervises(Mstatus::TSR); }
  bool may_sfence() const { return supervises(Mstatus::TVM); }
  bool may_stall() const { return mode == Mode::machine || !mstatus.has(Mstatus::TW); }
  bool may_wfi() const { return may_stall() && !(supervised && in_user_mode()); }
  // Returns true if an instruction in the present mode may access the CSR of this number, if it
  // exists.
  bool permits(unsigned number) const {
    if (CsrNumber::lowest_mode(number) > static_cast<unsigned>(mode)) return false;
    if (number <= CsrNumber::fcsr) return has_floats();
    if (number == CsrNumber::satp && mode == Mode::supervisor) return !mstatus.has(Mstatus::TVM);
    if (number < CsrNumber::cycle || number > CsrNumber::hpmcounter31) return true;
    const uint64_t allowed = (mode == Mode::machine ? ~uint64_t{0} : m.counteren) &
                             (supervised && in_user_mode() ? s.counteren : ~uint64_t{0});
    return allowed >> (number - CsrNumber::cycle) & 1;
  }

  bool has_floats() const { return mstatus.has(Mstatus::FS); }
  void dirty_floats() { mstatus.dirty_floats(); }
  AccessMode access_mode() const {
    return {in_user_mode(), mstatus.has(Mstatus::SUM), mstatus.has(Mstatus::MXR)};
  }
  uint64_t misa() const {
    return uint64_t{2} << 62 | extensions("ACDFIMU") | (supervised ? extensions("S") : 0);
  }

  // --- interrupts (3.1.9)
  uint64_t interrupts() const {
    return kMachineInterrupts | (supervised ? kSupervisorInterrupts : 0);
  }
  void set_pending(unsigned number, bool level) {
    mip = level ? mip | bit_of(number) : mip & ~bit_of(number);
  }
  bool wakes() const { return (mip & mie) != 0; }
  // Returns the mask of interrupts that are pending, enabled, and not masked in the present mode.
  uint64_t takeable() const {
    const uint64_t pending = mip & mie;
    const bool machine = mstatus.has(Mstatus::MIE) || mode != Mode::machine;
    const bool supervisor =
        in_user_mode() || (mstatus.has(Mstatus::SIE) && mode == Mode::supervisor);
    return (machine ? pending & ~mideleg : 0) | (supervisor ? pending & mideleg : 0);
  }
  // Returns the number of the interrupt to take: those of machine mode first; within a mode
  // external, then software, then timer.
  unsigned highest() const { return first_of(takeable(), {kMei, kMsi, kMti, kSei, kSsi, kSti}); }
  // Returns the value of stopi: the interrupt's number in the upper half, its priority, which is
  // always 1, in the lower.
  uint64_t stopi() const {
    const uint64_t number = first_of(mip & mie & mideleg, {kSei, kSsi, kSti});
    return number ? number << 16 | 1 : 0;
  }

  // --- traps (3.1.7, 3.1.8)
  bool delegates(uint64_t cause, bool interrupt) const {
    return mode != Mode::machine && ((interrupt ? mideleg : medeleg) >> cause & 1);
  }
  // Returns the address of a trap's handler. Vectored mode applies only to interrupts.
  uint64_t handler(uint64_t cause, bool interrupt) const {
    const uint64_t tvec = delegates(cause, interrupt) ? s.tvec : m.tvec;
    const uint64_t base = tvec & ~uint64_t{3};
    return interrupt && (tvec & 1) ? base + 4 * cause : base;
  }
  void enter(uint64_t pc, uint64_t cause, uint64_t tval, bool interrupt) {
    const bool delegated = delegates(cause, interrupt);
    TrapCsrs& to = delegated ? s : m;
    to.epc = pc;
    to.cause = interrupt ? cause | kInterruptBit : cause;
    to.tval = tval;
    mstatus.push(delegated ? Mstatus::kSupervisor : Mstatus::kMachine, mode);
    mode = delegated ? Mode::supervisor : Mode::machine;
  }
  // Executes mret or sret. Returns the pc at which execution continues.
  uint64_t leave(Mode handler) {
    const bool machine = handler == Mode::machine;
    mode = mstatus.pop(machine ? Mstatus::kMachine : Mstatus::kSupervisor);
    return machine ? m.epc : s.epc;
  }

 private:
  static unsigned first_of(uint64_t pending, std::initializer_list<unsigned> by_priority) {
    for (const unsigned number : by_priority)
      if (pending & bit_of(number)) return number;
    return 0;
  }
};

}  // namespace uncore
