// The control and status registers of a machine-mode hart, and the trap rules that live in them.
//
// Interface: read() and write() by CSR number; enter() and leave() a trap; wakes() and
// interruptible(). The counters (cycle, time, instret) belong to Hart and its port, not here.
//
// Invariant: every field holds only legal values; WARL rules are applied on the way in.
#pragma once

#include <cstdint>

namespace uncore {

enum Cause : uint64_t {
  kFetchFault = 1,
  kIllegalInstruction = 2,
  kBreakpoint = 3,
  kLoadMisaligned = 4,
  kLoadFault = 5,
  kStoreMisaligned = 6,
  kStoreFault = 7,
  kMachineEcall = 11,
};
inline constexpr uint64_t kInterruptBit = uint64_t{1} << 63;

struct CsrNumber {
  enum : unsigned {
    mstatus = 0x300,
    misa = 0x301,
    mie = 0x304,
    mtvec = 0x305,
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
    mvendorid = 0xF11,
    marchid = 0xF12,
    mimpid = 0xF13,
    mhartid = 0xF14,
    mconfigptr = 0xF15,
  };
  // The two top bits of a CSR number say whether it can be written.
  static constexpr bool read_only(unsigned number) { return number >> 10 == 3; }
};

struct Csr {
  uint64_t mhartid = 0, mtvec = 0, mscratch = 0, mepc = 0, mcause = 0, mtval = 0;
  uint64_t mie = 0, mip = 0;
  bool status_mie = false, status_mpie = false;

  static constexpr uint64_t kInterrupts = 1 << 3 | 1 << 7 | 1 << 11;  // MSI, MTI, MEI

  bool wakes() const { return (mip & mie) != 0; }
  bool interruptible() const { return status_mie && wakes(); }

  // The pending enabled interrupt to take: external before software before timer.
  unsigned highest() const {
    for (const unsigned bit : {11u, 3u, 7u}) {
      if (mip & mie & 1u << bit) return bit;
    }
    return 0;
  }

  // Where a trap goes: vectored mode applies to interrupts only.
  uint64_t handler(uint64_t cause, bool interrupt) const {
    const uint64_t base = mtvec & ~uint64_t{3};
    return interrupt && (mtvec & 1) ? base + 4 * cause : base;
  }

  void enter(uint64_t pc, uint64_t cause, uint64_t tval, bool interrupt) {
    mepc = pc;
    mcause = interrupt ? cause | kInterruptBit : cause;
    mtval = tval;
    status_mpie = status_mie;
    status_mie = false;
  }

  uint64_t leave() {
    status_mie = status_mpie;
    status_mpie = true;
    return mepc;
  }

  // False: there is no such CSR.
  bool read(unsigned number, uint64_t& value) const {
    switch (number) {
      case CsrNumber::mstatus:
        value = status();
        return true;
      case CsrNumber::misa:
        value = kMisa;
        return true;
      case CsrNumber::mie:
        value = mie;
        return true;
      case CsrNumber::mtvec:
        value = mtvec;
        return true;
      case CsrNumber::mscratch:
        value = mscratch;
        return true;
      case CsrNumber::mepc:
        value = mepc;
        return true;
      case CsrNumber::mcause:
        value = mcause;
        return true;
      case CsrNumber::mtval:
        value = mtval;
        return true;
      case CsrNumber::mip:
        value = mip;
        return true;
      case CsrNumber::mhartid:
        value = mhartid;
        return true;
      default:
        value = 0;
        return zero(number);
    }
  }

  // False: there is no such CSR, or it is read-only.
  bool write(unsigned number, uint64_t value) {
    if (CsrNumber::read_only(number)) return false;
    switch (number) {
      case CsrNumber::mstatus:
        status_mie = value >> 3 & 1;
        status_mpie = value >> 7 & 1;
        return true;
      case CsrNumber::mie:
        mie = value & kInterrupts;
        return true;
      case CsrNumber::mtvec:
        if ((value & 3) < 2) mtvec = value;  // the other modes are reserved: keep what was there
        return true;
      case CsrNumber::mscratch:
        mscratch = value;
        return true;
      case CsrNumber::mepc:
        mepc = value & ~uint64_t{1};
        return true;
      case CsrNumber::mcause:
        mcause = value;
        return true;
      case CsrNumber::mtval:
        mtval = value;
        return true;
      case CsrNumber::misa:
      case CsrNumber::mip:
        return true;  // all bits we have are wired to devices
      default:
        return zero(number);
    }
  }

 private:
  static constexpr uint64_t kMisa =
      uint64_t{2} << 62 | 1 << ('I' - 'A') | 1 << ('M' - 'A') | 1 << ('A' - 'A') | 1 << ('C' - 'A');

  // MPP reads as M: there is no other mode to return to.
  uint64_t status() const {
    return uint64_t{3} << 11 | uint64_t{status_mpie} << 7 | uint64_t{status_mie} << 3;
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
           number == N::mconfigptr;
  }
};

}  // namespace uncore
