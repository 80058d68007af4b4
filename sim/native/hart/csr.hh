// The control and status registers of a hart with machine and user mode, the mode it is in, and the
// trap rules that live in them. Those of supervisor mode stand in supervised.hh, and are there if
// the hart is `supervised`.
//
// Interface: permits(), read() and write() by CSR number; enter() and leave() a trap; wakes() and
// interruptible(). The counters (cycle, time, instret) belong to Hart and its port, not here.
//
// Invariant: every field holds only legal values; WARL rules are applied on the way in.
#pragma once

#include <cstdint>

#include "hart/supervised.hh"

namespace uncore {

enum Cause : uint64_t {
  kFetchFault = 1,
  kIllegalInstruction = 2,
  kBreakpoint = 3,
  kLoadMisaligned = 4,
  kLoadFault = 5,
  kStoreMisaligned = 6,
  kStoreFault = 7,
  kUserEcall = 8,
  kSupervisorEcall = 9,
  kMachineEcall = 11,
  kFetchPageFault = 12,
  kLoadPageFault = 13,
  kStorePageFault = 15,
};
inline constexpr uint64_t kInterruptBit = uint64_t{1} << 63;

struct CsrNumber {
  enum : unsigned {
    fflags = 0x001,
    frm = 0x002,
    fcsr = 0x003,
    sstatus = 0x100,
    sie = 0x104,
    sip = 0x144,
    stimecmp = 0x14D,
    siselect = 0x150,
    sireg = 0x151,
    stopei = 0x15C,
    satp = 0x180,
    mstatus = 0x300,
    misa = 0x301,
    mie = 0x304,
    mtvec = 0x305,
    mcounteren = 0x306,
    menvcfg = 0x30A,
    mcountinhibit = 0x320,
    mscratch = 0x340,
    mepc = 0x341,
    mcause = 0x342,
    mtval = 0x343,
    mip = 0x344,
    pmpcfg0 = 0x3A0,
    pmpcfg15 = 0x3AF,
    pmpaddr0 = 0x3B0,
    pmpaddr63 = 0x3EF,
    mhpmevent3 = 0x323,
    mhpmevent31 = 0x33F,
    mcycle = 0xB00,
    minstret = 0xB02,
    mhpmcounter3 = 0xB03,
    mhpmcounter31 = 0xB1F,
    cycle = 0xC00,
    time = 0xC01,
    instret = 0xC02,
    hpmcounter3 = 0xC03,
    hpmcounter31 = 0xC1F,
    stopi = 0xDB0,
    mvendorid = 0xF11,
    marchid = 0xF12,
    mimpid = 0xF13,
    mhartid = 0xF14,
    mconfigptr = 0xF15,
  };
  // The two top bits of a CSR number say whether it can be written.
  static constexpr bool read_only(unsigned number) { return number >> 10 == 3; }
  // And the next two, from which mode on.
  static constexpr unsigned lowest_mode(unsigned number) { return number >> 8 & 3; }
};

// Their bits in misa.
constexpr uint64_t extensions(const char* letters) {
  uint64_t bits = 0;
  for (; *letters; ++letters) bits |= uint64_t{1} << (*letters - 'A');
  return bits;
}

// As the manual numbers them.
enum class Mode : uint8_t { user = 0, supervisor = 1, machine = 3 };

struct Csr : Supervised {
  Mode mode = Mode::machine;
  uint64_t mhartid = 0, mtvec = 0, mscratch = 0, mepc = 0, mcause = 0, mtval = 0;
  uint64_t mie = 0, mip = 0;
  bool status_mie = false, status_mpie = false, status_mprv = false, status_tw = false;
  Mode status_mpp = Mode::machine;
  uint8_t status_fs = 0, fflags = 0, frm = 0;
  uint64_t mcounteren = 0;

  static constexpr uint64_t kInterrupts = 1 << 3 | 1 << 7 | 1 << 11;  // MSI, MTI, MEI

  bool wakes() const { return (mip & mie) != 0; }
  bool interruptible() const { return takeable() != 0; }
  bool in_user_mode() const { return mode == Mode::user; }
  uint64_t ecall() const { return kUserEcall + static_cast<uint64_t>(mode); }
  // Only what waits in the background may be told to.
  bool may_wait() const {
    return mode == Mode::machine || !(status_tw || (supervised && in_user_mode()));
  }

  // Pending, enabled, and not kept out by the mode that would be interrupted.
  uint64_t takeable() const {
    const uint64_t pending = mip & mie;
    const bool machine = status_mie || mode != Mode::machine;
    const bool supervisor = in_user_mode() || (status_sie && mode == Mode::supervisor);
    return (machine ? pending & ~mideleg : 0) | (supervisor ? pending & mideleg : 0);
  }
  // Is a trap taken in supervisor mode?
  bool delegates(uint64_t cause, bool interrupt) const {
    return mode != Mode::machine && ((interrupt ? mideleg : medeleg) >> cause & 1);
  }

  bool has_floats() const { return status_fs != 0; }
  void change_floats() { status_fs = kDirty; }
  void accrue(unsigned flags) {
    if (flags) change_floats();
    fflags |= static_cast<uint8_t>(flags);
  }

  // May an instruction of the present mode name this CSR, if there is one?
  bool permits(unsigned number) const {
    if (CsrNumber::lowest_mode(number) > static_cast<unsigned>(mode)) return false;
    if (number <= CsrNumber::fcsr) return has_floats();
    if (number == CsrNumber::satp && status_tvm && mode == Mode::supervisor) return false;
    if (number < CsrNumber::cycle || number > CsrNumber::hpmcounter31) return true;
    const uint64_t allowed = (mode == Mode::machine ? ~uint64_t{0} : mcounteren) &
                             (supervised && in_user_mode() ? scounteren : ~uint64_t{0});
    return allowed >> (number - CsrNumber::cycle) & 1;
  }

  // The interrupt to take: the machine's first, of each external before software before timer.
  unsigned highest() const {
    const uint64_t all = takeable();
    for (const unsigned bit : {11u, 3u, 7u, 9u, 1u, 5u}) {
      if (all & 1u << bit) return bit;
    }
    return 0;
  }

  // The supervisor's, as stopi has it: its number, and that all are of one priority.
  uint64_t top() const {
    const uint64_t all = mip & mie & mideleg;
    for (const unsigned bit : {9u, 1u, 5u}) {
      if (all & 1u << bit) return bit << 16 | 1;
    }
    return 0;
  }

  // Where a trap goes: vectored mode applies to interrupts only.
  uint64_t handler(uint64_t cause, bool interrupt) const {
    const uint64_t vector = delegates(cause, interrupt) ? stvec : mtvec;
    const uint64_t base = vector & ~uint64_t{3};
    return interrupt && (vector & 1) ? base + 4 * cause : base;
  }

  void enter(uint64_t pc, uint64_t cause, uint64_t tval, bool interrupt) {
    const uint64_t why = interrupt ? cause | kInterruptBit : cause;
    if (delegates(cause, interrupt)) {
      Supervised::enter(pc, why, tval, in_user_mode());
      mode = Mode::supervisor;
      return;
    }
    mepc = pc;
    mcause = why;
    mtval = tval;
    status_mpie = status_mie;
    status_mie = false;
    status_mpp = mode;
    mode = Mode::machine;
  }

  uint64_t leave() {
    status_mie = status_mpie;
    status_mpie = true;
    mode = status_mpp;
    status_mpp = Mode::user;  // the least privileged one
    status_mprv &= mode == Mode::machine;
    return mepc;
  }
  uint64_t leave_supervisor() {
    mode = Supervised::leave() ? Mode::user : Mode::supervisor;
    status_mprv = false;
    return sepc;
  }
  // May it sret, and order translations?
  bool may_return() const {
    return supervised && !in_user_mode() && !(status_tsr && mode == Mode::supervisor);
  }
  bool may_order() const {
    return supervised && !in_user_mode() && !(status_tvm && mode == Mode::supervisor);
  }

  // False: there is no such CSR.
  bool read(unsigned number, uint64_t& value) const {
    switch (number) {
      case CsrNumber::fflags:
        value = fflags;
        return true;
      case CsrNumber::frm:
        value = frm;
        return true;
      case CsrNumber::fcsr:
        value = uint64_t{frm} << kRoundingAt | fflags;
        return true;
      case CsrNumber::mstatus:
        value = status();
        return true;
      case CsrNumber::misa:
        value = kMisa | (supervised ? extensions("S") : 0);
        return true;
    }
    if (supervised && (read_view(number, value) || Supervised::read(number, value))) return true;
    const uint64_t* const found = plain(number);
    value = found ? *found : 0;
    return found || zero(number);
  }

  // False: there is no such CSR, or it is read-only.
  bool write(unsigned number, uint64_t value) {
    if (CsrNumber::read_only(number)) return false;
    switch (number) {
      case CsrNumber::fflags:
      case CsrNumber::frm:
      case CsrNumber::fcsr:
        write_floats(number, value);
        return true;
      case CsrNumber::mstatus:
        write_status(value);
        return true;
      case CsrNumber::mie:
        mie = value & interrupts();
        return true;
      case CsrNumber::mtvec:
        if ((value & 3) < 2) mtvec = value;  // the other modes are reserved: keep what was there
        return true;
      case CsrNumber::mcounteren:
        mcounteren = static_cast<uint32_t>(value);
        return true;
      case CsrNumber::mepc:
        mepc = value & ~uint64_t{1};
        return true;
      case CsrNumber::mscratch:
      case CsrNumber::mcause:
      case CsrNumber::mtval:
        *const_cast<uint64_t*>(plain(number)) = value;
        return true;
      case CsrNumber::misa:
        return true;
      case CsrNumber::mip:  // the machine's own bits are wired to devices
        write_pending(value, supervised ? kSupervisorInterrupts : 0);
        return true;
      default:
        if (supervised && (write_view(number, value) || Supervised::write(number, value)))
          return true;
        return zero(number);
    }
  }

 private:
  static constexpr uint64_t kMisa = uint64_t{2} << 62 | extensions("ACDFIMU");

  uint64_t interrupts() const { return kInterrupts | (supervised ? kSupervisorInterrupts : 0); }
  void write_pending(uint64_t value, uint64_t own) { mip = (mip & ~own) | (value & own); }

  // What a supervisor sees of the machine's registers.
  bool read_view(unsigned number, uint64_t& value) const {
    switch (number) {
      case CsrNumber::sstatus:
        value = status() & kSeen;
        return true;
      case CsrNumber::sie:
        value = mie & mideleg;
        return true;
      case CsrNumber::sip:
        value = mip & mideleg;
        return true;
      default:
        return false;
    }
  }
  bool write_view(unsigned number, uint64_t value) {
    switch (number) {
      case CsrNumber::sstatus:
        write_status((status() & ~kSeen) | (value & kSeen));
        return true;
      case CsrNumber::sie:
        mie = (mie & ~mideleg) | (value & mideleg & interrupts());
        return true;
      case CsrNumber::sip:
        write_pending(value, mideleg & kOwnPending);
        return true;
      default:
        return false;
    }
  }

  static constexpr uint64_t kOwnPending = 1 << 1;  // a supervisor's own software interrupt
  // Of mstatus, what sstatus shows: SIE, SPIE, SPP, FS, SUM, MXR, UXL, SD.
  static constexpr uint64_t kSeen = uint64_t{1} << 63 | uint64_t{3} << 32 | 0xC6122;
  static constexpr uint8_t kDirty = 3;        // of FS
  static constexpr unsigned kRoundingAt = 5;  // in fcsr

  void write_floats(unsigned number, uint64_t value) {
    change_floats();
    if (number != CsrNumber::frm) fflags = value & 31;
    if (number == CsrNumber::fcsr) value >>= kRoundingAt;
    if (number != CsrNumber::fflags) frm = value & 7;
  }

  // One that reads as its field.
  const uint64_t* plain(unsigned number) const {
    switch (number) {
      case CsrNumber::mie:
        return &mie;
      case CsrNumber::mtvec:
        return &mtvec;
      case CsrNumber::mcounteren:
        return &mcounteren;
      case CsrNumber::mscratch:
        return &mscratch;
      case CsrNumber::mepc:
        return &mepc;
      case CsrNumber::mcause:
        return &mcause;
      case CsrNumber::mtval:
        return &mtval;
      case CsrNumber::mip:
        return &mip;
      case CsrNumber::mhartid:
        return &mhartid;
      default:
        return nullptr;
    }
  }

  // MPRV is kept, and means nothing: machine mode has physical addresses, and memory no protection.
  uint64_t status() const {
    constexpr uint64_t kUserLength = 2;  // UXL: 64 bits
    const uint64_t supervisor = supervised ? status_bits() : 0;
    return supervisor | uint64_t{status_fs == kDirty} << 63 | uint64_t{status_fs} << 13 |
           kUserLength << 32 | uint64_t{status_tw} << 21 | uint64_t{status_mprv} << 17 |
           static_cast<uint64_t>(status_mpp) << 11 | uint64_t{status_mpie} << 7 |
           uint64_t{status_mie} << 3;
  }

  void write_status(uint64_t value) {
    status_mie = value >> 3 & 1;
    status_mpie = value >> 7 & 1;
    const auto mpp = static_cast<Mode>(value >> 11 & 3);
    if (mpp == Mode::user || mpp == Mode::machine || (supervised && mpp == Mode::supervisor))
      status_mpp = mpp;
    if (supervised) write_status_bits(value);
    status_mprv = value >> 17 & 1;
    status_tw = value >> 21 & 1;
    status_fs = value >> 13 & 3;
  }

  // CSRs that exist, read as zero and ignore writes: identification, event counters, PMP.
  static bool zero(unsigned number) {
    const auto within = [number](unsigned first, unsigned last) {
      return number >= first && number <= last;
    };
    using N = CsrNumber;
    if (within(N::pmpcfg0, N::pmpcfg15)) return number % 2 == 0;  // odd ones are RV32 only
    return number == N::mcountinhibit || within(N::mhpmevent3, N::mhpmevent31) ||
           within(N::pmpaddr0, N::pmpaddr63) || within(N::mhpmcounter3, N::mhpmcounter31) ||
           within(N::hpmcounter3, N::hpmcounter31) || within(N::mvendorid, N::mimpid) ||
           number == N::mconfigptr || number == N::menvcfg;
  }
};

}  // namespace uncore
