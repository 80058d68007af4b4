// Instructions that compute with floating point, all of which are Op::floating.
//
// Interface: decode_floating() decodes a word, compute() returns the value for rd. Invariant:
// Instruction::imm has, from the lowest bit on, kRounding bits of the rounding mode, one bit of the
// format, and the number of the row in isa/fd.def; Instruction::size is the register of the third
// source.
#pragma once

#include <cstdint>

#include "hart/instruction.hh"

namespace uncore {

inline constexpr unsigned kDynamic = 7;   // rounding mode field that selects the mode in frm
inline constexpr unsigned kModes = 5;     // number of rounding modes
inline constexpr unsigned kRounding = 3;  // width of the rounding mode field, in bits

// Decodes a floating-point instruction. Returns one with Op::illegal if the word is none.
Instruction decode_floating(uint32_t word);

inline unsigned rounding_of(const Instruction& in) {
  return static_cast<unsigned>(in.imm) & ((1u << kRounding) - 1);
}

// fflags and frm (unprivileged manual 20.2).
struct FloatStatus {
  uint8_t fflags = 0, frm = 0;

  uint64_t fcsr() const { return uint64_t{frm} << 5 | fflags; }
  void set_fcsr(uint64_t value) {
    frm = value >> 5 & 7;
    fflags = value & 0x1f;
  }
};

// Returns the value for rd, computed from the registers `x` in rounding mode `mode`. Adds the
// exceptions that it raises to `flags`, in the encoding of fflags.
uint64_t compute(const Instruction& in, const uint64_t* x, unsigned mode, unsigned& flags);

}  // namespace uncore
