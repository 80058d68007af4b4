// Instructions that compute with floating point: what Op::floating stands for.
//
// Interface: decode_floating() makes one of a word, compute() is its value for rd.
// Invariant: Instruction::imm of one is kRounding bits of the rounding mode, below the row of
// floating.def and the format; Instruction::size is the register of the third source.
#pragma once

#include <cstdint>

#include "hart/instruction.hh"

namespace uncore {

inline constexpr unsigned kDynamic = 7;   // the rounding mode that frm tells
inline constexpr unsigned kModes = 5;     // those that there are
inline constexpr unsigned kRounding = 3;  // bits of a rounding mode

// Op::illegal if it is none.
Instruction decode_floating(uint32_t word);

inline unsigned rounding_of(const Instruction& in) {
  return static_cast<unsigned>(in.imm) & ((1u << kRounding) - 1);
}

// In that rounding mode, of these registers; adds to the flags, as in fflags.
uint64_t compute(const Instruction& in, const uint64_t* x, unsigned mode, unsigned& flags);

}  // namespace uncore
