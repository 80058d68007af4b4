// A decoded instruction, and decoding.
//
// Interface: decode(word) makes an Instruction of the 32 bits found at an address (of a compressed
// instruction only the lower 16 count); Op::illegal if they are none.
//
// Invariant: rd is never 0: writes to x0 are decoded to go to x[kSink], so executing needs no test
// and x[0] stays zero.
#pragma once

#include <cstdint>

#include "hart/port.hh"

namespace uncore {

inline constexpr unsigned kSink = 32;       // swallows what is written to x0
inline constexpr unsigned kFloat = 33;      // f0
inline constexpr unsigned kRegisters = 65;  // x0 to x31, the sink, f0 to f31
inline constexpr unsigned kStackPointer = 2;

enum class Op : uint8_t {
  undecoded,  // is 0, so that fresh memory is undecoded code
  illegal,
  watched,  // any instruction of which the port is told before it executes (Code::watch)
  amo,
  floating,
#define ALU(name, match, mask, format, value) name,
#define LOAD(name, match, mask, type) name,
#define STORE(name, match, mask, type) name,
#define BRANCH(name, match, mask, taken) name,
#define AMO(name, funct5, operation)
#define LR(name, match, mask) name,
#define PAUSE(name, match, mask) name,
#define FENCE(name, match, mask) name,
#define JUMP(name, match, mask, format, target) name,
#define CALL(name, match, mask, format, call) name,
#include "hart/isa/instructions.def"
};

struct Instruction {
  Op op = Op::undecoded;
  uint8_t rd = kSink, rs1 = 0, rs2 = 0;
  uint8_t length = 4;   // bytes: 2 or 4
  uint8_t size = 0;     // atomics: bytes accessed; floating: the third source
  Amo amo = Amo::swap;  // Op::amo: which
  int64_t imm = 0;      // immediate; CSR number; pred and succ of a fence; aq and rl of an atomic;
                        // what a floating one computes (floating.hh)
};
static_assert(sizeof(Instruction) == 16);

// Returns the instruction behind this one in a table that has one for every two bytes of code.
inline Instruction* following(Instruction* in) {
  auto* const at = reinterpret_cast<unsigned char*>(in);
  return reinterpret_cast<Instruction*>(at + in->length * (sizeof(Instruction) / 2));
}

Instruction decode(uint32_t word);

// Returns the 32-bit instruction that a compressed one stands for; 0 (which is illegal) if it is
// reserved.
uint32_t expand(uint16_t compressed);

}  // namespace uncore
