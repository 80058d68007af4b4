// Instructions that compute with floating point: what Op::floating stands for.
//
// Interface: decode_floating() makes an instruction of a word, compute() is its value for rd.
// Invariant: Instruction::imm is kRounding bits of the rounding mode, below the row of
// isa/fd.def and the format; Instruction::size is the register of the third source.
#pragma once

#include <cstdint>

#include "hart/instruction.hh"

namespace uncore {

inline constexpr unsigned kDynamic = 7;   // the rounding mode of frm
inline constexpr unsigned kModes = 5;     // those that there are
inline constexpr unsigned kRounding = 3;  // bits of a rounding mode

// Op::illegal if the word is no such instruction.
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

// In that rounding mode, of these registers; adds to the flags, as in fflags.
uint64_t compute(const Instruction& in, const uint64_t* x, unsigned mode, unsigned& flags);

}  // namespace uncore
