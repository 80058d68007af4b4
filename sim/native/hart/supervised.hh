// What supervisor mode adds to a hart's control and status registers. Part of csr.hh, which also
// has what is a view of the machine's own registers: sstatus, sie, sip.
#pragma once

#include <cstdint>

#include "mmu/page_table.hh"

namespace uncore {

struct Supervised {
  bool supervised = false;  // does the hart have supervisor mode?
  uint64_t stvec = 0, sscratch = 0, sepc = 0, scause = 0, stval = 0, scounteren = 0, senvcfg = 0;
  uint64_t medeleg = 0, mideleg = 0;
  Satp satp;
  bool status_sie = false, status_spie = false, status_spp = false;
  bool status_sum = false, status_mxr = false;
  bool status_tvm = false, status_tsr = false;

  static constexpr uint64_t kSupervisorInterrupts = 1 << 1 | 1 << 5 | 1 << 9;  // SSI, STI, SEI

  void enter(uint64_t pc, uint64_t why, uint64_t tval, bool from_user) {
    sepc = pc;
    scause = why;
    stval = tval;
    status_spie = status_sie;
    status_sie = false;
    status_spp = !from_user;
  }
  // True: to user mode.
  bool leave() {
    const bool to_user = !status_spp;
    status_sie = status_spie;
    status_spie = true;
    status_spp = false;
    return to_user;
  }

  // Their bits in mstatus.
  uint64_t status_bits() const {
    constexpr uint64_t kSupervisorLength = uint64_t{2} << 34;  // SXL: 64 bits
    return kSupervisorLength | uint64_t{status_sie} << 1 | uint64_t{status_spie} << 5 |
           uint64_t{status_spp} << 8 | uint64_t{status_sum} << 18 | uint64_t{status_mxr} << 19 |
           uint64_t{status_tvm} << 20 | uint64_t{status_tsr} << 22;
  }
  void write_status_bits(uint64_t value) {
    status_sie = value >> 1 & 1;
    status_spie = value >> 5 & 1;
    status_spp = value >> 8 & 1;
    status_sum = value >> 18 & 1;
    status_mxr = value >> 19 & 1;
    status_tvm = value >> 20 & 1;
    status_tsr = value >> 22 & 1;
  }

  // False: it is none of these.
  bool read(unsigned number, uint64_t& value) const {
    if (number == kSatp) return value = satp.bits, true;
    const uint64_t* const found = const_cast<Supervised*>(this)->plain(number);
    if (found) value = *found;
    return found;
  }
  bool write(unsigned number, uint64_t value) {
    if (number == kSatp) {
      if (Satp{value}.legal()) satp.bits = value;
      return true;
    }
    uint64_t* const found = plain(number);
    if (found) *found = value & writable(number);
    return found;
  }

 private:
  enum : unsigned {
    kStvec = 0x105,
    kScounteren = 0x106,
    kSenvcfg = 0x10A,
    kSscratch = 0x140,
    kSepc = 0x141,
    kScause = 0x142,
    kStval = 0x143,
    kSatp = 0x180,
    kMedeleg = 0x302,
    kMideleg = 0x303,
  };

  // What WARL leaves of it.
  static uint64_t writable(unsigned number) {
    switch (number) {
      case kStvec:
        return ~uint64_t{2};
      case kSepc:
        return ~uint64_t{1};
      case kMideleg:
        return kSupervisorInterrupts;
      case kMedeleg:
        return 0xb1ff;  // all but calls of a supervisor and the machine
      case kScounteren:
        return 0xffffffff;
      default:
        return ~uint64_t{0};
    }
  }
  uint64_t* plain(unsigned number) {
    switch (number) {
      case kStvec:
        return &stvec;
      case kScounteren:
        return &scounteren;
      case kSenvcfg:
        return &senvcfg;
      case kSscratch:
        return &sscratch;
      case kSepc:
        return &sepc;
      case kScause:
        return &scause;
      case kStval:
        return &stval;
      case kMedeleg:
        return &medeleg;
      case kMideleg:
        return &mideleg;
      default:
        return nullptr;
    }
  }
};

}  // namespace uncore
