// mstatus, and sstatus, which is supervisor mode's view of it (privileged manual 3.1.6, 4.1.1).
//
// Invariant: `bits_` contains only legal values. SD is not stored, because it follows from FS.
#pragma once

#include <bit>
#include <cstdint>

#include "hart/csr.hh"

namespace uncore {

class Mstatus {
 public:
  enum Field : uint64_t {
    SIE = 1 << 1,
    MIE = 1 << 3,
    SPIE = 1 << 5,
    MPIE = 1 << 7,
    SPP = 1 << 8,
    MPP = 3 << 11,
    FS = 3 << 13,
    MPRV = 1 << 17,  // stored, but without effect: machine mode uses physical addresses
    SUM = 1 << 18,
    MXR = 1 << 19,
    TVM = 1 << 20,
    TW = 1 << 21,
    TSR = 1 << 22,
    UXL = uint64_t{3} << 32,
    SXL = uint64_t{3} << 34,
    SD = uint64_t{1} << 63,
  };
  // The fields of the stack that a trap to a mode pushes, and the return from it pops.
  struct Stack {
    Field ie, pie, pp;
  };
  static constexpr Stack kMachine{MIE, MPIE, MPP}, kSupervisor{SIE, SPIE, SPP};

  bool has(Field field) const { return bits_ & field; }
  uint64_t get(Field field) const { return (bits_ & field) >> std::countr_zero(+field); }
  void set(Field field, uint64_t value) {
    bits_ = (bits_ & ~field) | (value << std::countr_zero(+field) & field);
  }

  uint64_t read() const { return bits_ | (get(FS) == kDirty ? +SD : 0); }
  void write(uint64_t value, bool supervised) {
    const uint64_t mpp = get(MPP);
    const uint64_t writable = kOfMachine | (supervised ? kOfSupervisor : 0);
    bits_ = (bits_ & ~writable) | (value & writable);
    const bool legal = get(MPP) != 2 && (supervised || get(MPP) != 1);
    if (!legal) set(MPP, mpp);
  }
  uint64_t sstatus() const { return read() & kSstatus; }
  void write_sstatus(uint64_t value) { write((bits_ & ~kSstatus) | (value & kSstatus), true); }
  // Makes this the mstatus of a hart with supervisor mode, which has 64 bits (SXL).
  void supervise() { set(SXL, k64Bits); }

  void dirty_floats() { bits_ |= FS; }

  // Enters a trap from mode `from` to the mode whose stack this is.
  void push(const Stack& to, Mode from) {
    set(to.pie, get(to.ie));
    set(to.ie, 0);
    set(to.pp, static_cast<uint64_t>(from));
  }
  // Returns from a trap (mret, sret). Returns the mode in which execution continues.
  Mode pop(const Stack& from) {
    const Mode mode{static_cast<uint8_t>(get(from.pp))};
    set(from.ie, get(from.pie));
    set(from.pie, 1);
    set(from.pp, static_cast<uint64_t>(Mode::user));
    if (mode != Mode::machine) set(MPRV, 0);
    return mode;
  }

 private:
  // Values of FS (dirty), and of UXL and SXL (64 bits).
  static constexpr uint64_t kDirty = 3, k64Bits = 2;
  static constexpr uint64_t kOfMachine = MIE | MPIE | MPP | FS | MPRV | TW;
  static constexpr uint64_t kOfSupervisor = SIE | SPIE | SPP | SUM | MXR | TVM | TSR;
  static constexpr uint64_t kSstatus = SIE | SPIE | SPP | FS | SUM | MXR | UXL | SD;

  uint64_t bits_ = MPP | k64Bits << 32;
};

}  // namespace uncore
