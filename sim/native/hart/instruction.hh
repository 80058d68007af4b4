// The decoded form of an instruction, and the decoder's interface.
//
// Interface: decode(word) decodes the 32 bits found at an address (only the lower 16 count if they
// are a compressed instruction). It returns Op::illegal if they are not an instruction.
//
// Invariant: rd is never 0. A destination x0 is decoded as x[kSink], so that execution needs no
// test and x[0] stays zero.
#pragma once

#include <cstdint>

#include "hart/port.hh"

namespace uncore {

inline constexpr unsigned kSink = 32;       // receives the writes to x0
inline constexpr unsigned kFloat = 33;      // index of f0
inline constexpr unsigned kRegisters = 65;  // x0 to x31, the sink, f0 to f31
inline constexpr unsigned kStackPointer = 2;

enum class Op : uint8_t {
  undecoded,  // has the value 0, so that zeroed memory is undecoded code
  illegal,
  watched,  // any instruction whose execution the port is notified of (Code::watch)
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
  uint8_t length = 4;   // in bytes: 2 or 4
  uint8_t size = 0;     // atomics: bytes accessed; floating: the third source; loads: number of
                        // instructions between it and the first use of its value (first_use.hh)
  Amo amo = Amo::swap;  // the operation, if op is Op::amo
  int64_t imm = 0;      // immediate; CSR number; pred and succ of a fence; aq and rl of an atomic;
                        // what a floating one computes (floating.hh)
};
static_assert(sizeof(Instruction) == 16);

// Returns the next instruction in a table that has one entry for every two bytes of code.
inline Instruction* following(Instruction* in) {
  auto* const at = reinterpret_cast<unsigned char*>(in);
  return reinterpret_cast<Instruction*>(at + in->length * (sizeof(Instruction) / 2));
}

Instruction decode(uint32_t word);

// Returns the 32-bit instruction that a compressed one stands for; 0 (which is illegal) if it is
// reserved.
uint32_t expand(uint16_t compressed);

}  // namespace uncore
