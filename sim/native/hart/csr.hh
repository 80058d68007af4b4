// Numbers of CSRs, interrupts and trap causes, as in the privileged manual.
//
// Each row of isa/csrs.def defines the value of a CSR and the effect of a write; csr_access.hh
// reads and writes CSRs by that table.
#pragma once

#include <cstdint>

namespace uncore {

struct CsrNumber {
  enum : unsigned {
#define CSR(number, name, ...) name = number,
#define ZEROS(number, name, last_number, last_name, exists) name = number, last_name = last_number,
#define IMSIC(number, name) name = number,
#include "hart/isa/csrs.def"
  };
  // The two top bits of a CSR number tell whether it can be written; the next two are the lowest
  // mode that may access it (2.1).
  static constexpr bool read_only(unsigned number) { return number >> 10 == 3; }
  static constexpr unsigned lowest_mode(unsigned number) { return number >> 8 & 3; }
};

// Privilege modes, numbered as in the manual (1.2).
enum class Mode : uint8_t { user = 0, supervisor = 1, machine = 3 };

// Exception codes of mcause and scause (table 3.6). The manual calls a fetch an instruction access,
// and a store "store/AMO".
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

// Interrupts: bits of mip and mie, and causes with kInterruptBit.
enum InterruptNumber : unsigned { kSsi = 1, kMsi = 3, kSti = 5, kMti = 7, kSei = 9, kMei = 11 };
inline constexpr uint64_t kInterruptBit = uint64_t{1} << 63;

constexpr uint64_t bit_of(unsigned number) { return uint64_t{1} << number; }
inline constexpr uint64_t kMachineInterrupts = bit_of(kMsi) | bit_of(kMti) | bit_of(kMei);
inline constexpr uint64_t kSupervisorInterrupts = bit_of(kSsi) | bit_of(kSti) | bit_of(kSei);
// The exceptions that medeleg can delegate: all but ecalls from supervisor and machine mode.
inline constexpr uint64_t kDelegable = 0xb1ff;

}  // namespace uncore
