// Instructions that compute with floating point: what Op::floating stands for.
//
// Interface: decode_floating() makes an instruction of a word, compute() is its value for rd.
// Invariant: Instruction::imm is kRounding bits of the rounding mode, below the row of
// isa/fd.def and the format; Instruction::size is the register of the third source.
#pragma once

#include <cstdint>

#include "hart/instruction.hh"

namespace uncore {

inline constexpr unsigned kDynamic = 7;   // encoded rounding mode that stands for the one in frm
inline constexpr unsigned kModes = 5;     // number of rounding modes
inline constexpr unsigned kRounding = 3;  // bits of an encoded rounding mode

// Returns Op::illegal if the word is no such instruction.
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

// Computes the value for rd from the registers `x`, in rounding mode `mode`. Adds the exceptions
// that it raises to `flags`, which are as in fflags.
uint64_t compute(const Instruction& in, const uint64_t* x, unsigned mode, unsigned& flags);

}  // namespace uncore
