// The format of page tables: Sv39 and Sv48, as the RISC-V privileged manual lays them out.
//
// Interface: Pte, one entry; Satp, the root's address and the number of levels; Right, the kind of
// access; AccessMode, the privilege of the access.
#pragma once

#include <cstdint>

namespace uncore {

inline constexpr unsigned kPageShift = 12, kIndexBits = 9;
inline constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;

enum class Right : uint8_t { read, write, execute };

// The privilege of an access: user or supervisor mode, with sstatus.SUM and MXR.
struct AccessMode {
  bool user = false, sum = false, mxr = false;
};

struct Pte {
  enum : uint64_t { valid = 1, read = 2, write = 4, execute = 8, user = 16, global = 32 };
  enum : uint64_t { accessed = 64, dirty = 128 };
  uint64_t bits = 0;

  bool has(uint64_t flags) const { return (bits & flags) == flags; }
  bool leaf() const { return bits & (read | execute); }
  // Returns whether the entry is valid and well-formed. Bits 54 to 60 are reserved, and 63
  // (Svnapot) is not supported. Bits 61 and 62 (Svpbmt) choose how memory is cached and have no
  // effect here.
  bool sound() const {
    constexpr uint64_t kReserved = uint64_t{0x7f} << 54 | uint64_t{1} << 63;
    return has(valid) && !(bits & kReserved) && (has(read) || !has(write));
  }
  uint64_t address() const { return (bits >> 10 & ((uint64_t{1} << 44) - 1)) << kPageShift; }
  bool allows(Right right, AccessMode access_mode) const {
    if (has(user) ? !access_mode.user && (right == Right::execute || !access_mode.sum)
                  : access_mode.user)
      return false;
    if (right == Right::write) return has(write);
    if (right == Right::execute) return has(execute);
    return has(read) || (access_mode.mxr && has(execute));
  }
  // Returns the entry after an access: with A set, and with D set too if it is a write.
  Pte touched(Right right) const {
    const uint64_t written = right == Right::write ? +dirty : 0;
    return {bits | accessed | written};
  }
};

// Returns the binary logarithm of the number of bytes that an entry of a level maps. Level 0 maps
// pages of 4 KiB.
constexpr unsigned shift_of(unsigned level) { return kPageShift + kIndexBits * level; }

struct Satp {
  uint64_t bits = 0;

  // Returns the number of levels; 0 if addresses are physical (Bare).
  unsigned levels() const { return levels_of(bits >> 60); }
  uint64_t root() const { return (bits & ((uint64_t{1} << 44) - 1)) << kPageShift; }
  uint16_t asid() const { return static_cast<uint16_t>(bits >> 44); }
  // Returns whether the hart has this mode. A write of satp with another mode has no effect.
  bool legal() const { return bits >> 60 == 0 || levels() > 0; }
  // Returns whether all bits above the translated ones equal the highest translated bit.
  bool canonical(uint64_t address) const {
    const unsigned above = 64 - shift_of(levels());
    return static_cast<uint64_t>(static_cast<int64_t>(address << above) >> above) == address;
  }

 private:
  static unsigned levels_of(uint64_t mode) { return mode == 8 ? 3 : mode == 9 ? 4 : 0; }
};

}  // namespace uncore
