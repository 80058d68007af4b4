#include "hart/floating.hh"

#include "hart/arithmetic.hh"

namespace uncore {
namespace {

#define CALL(name, match, mask, format, call)  // loads and stores are in interpreter.hh

using ieee::Double;
using ieee::Single;

enum class FloatInstruction : uint8_t {
#define FLOAT(name, match, mask, operands, value) name,
#include "hart/isa/fd.def"
#undef FLOAT
};

struct Bits {
  uint32_t match, mask;
  const char* operands;
};
constexpr Bits kRows[] = {
#define FLOAT(name, match, mask, operands, value) {match, mask, operands},
#include "hart/isa/fd.def"
#undef FLOAT
};

constexpr uint32_t kFunct3 = 7 << 12;
// Bit of imm above the rounding mode; the number of the row is above it.
constexpr unsigned kDouble = 1;

uint8_t register_of(char kind, uint32_t word, unsigned low_bit) {
  return static_cast<uint8_t>((word >> low_bit & 31) + (kind == 'F' ? kFloat : 0));
}

Instruction fields(const Bits& row, unsigned number, uint32_t word) {
  Instruction in;
  in.op = Op::floating;
  in.rd = register_of(row.operands[0], word, 7);
  if (in.rd == 0) in.rd = kSink;
  in.rs1 = register_of(row.operands[1], word, 15);
  if (row.operands[2]) in.rs2 = register_of(row.operands[2], word, 20);
  if (row.operands[2] && row.operands[3]) in.size = register_of(row.operands[3], word, 27);
  const unsigned mode = row.mask & kFunct3 ? 0 : word >> 12 & 7;
  in.imm = (number << 1 | (word >> 25 & kDouble)) << kRounding | mode;
  if (mode >= kModes && mode != kDynamic) in.op = Op::illegal;
  return in;
}

template <class F>
uint64_t compute_in(FloatInstruction row, const Instruction& in, const uint64_t* x, unsigned mode,
                    unsigned& flags) {
  ieee::Arithmetic<F> f(mode);
  const uint64_t raw = x[in.rs1];
  const uint64_t a = F::unboxed(raw), b = F::unboxed(x[in.rs2]), c = F::unboxed(x[in.size]);
  uint64_t result = 0;
  switch (row) {
#define FLOAT(name, match, mask, operands, value) \
  case FloatInstruction::name:                    \
    result = value;                               \
    break;
#include "hart/isa/fd.def"
#undef FLOAT
  }
  flags |= f.flags;
  return in.rd >= kFloat ? F::boxed(result) : result;
}

}  // namespace

Instruction decode_floating(uint32_t word) {
  unsigned number = 0;
  for (const Bits& row : kRows) {
    if ((word & row.mask) == row.match) return fields(row, number, word);
    ++number;
  }
  Instruction none;
  none.op = Op::illegal;
  return none;
}

uint64_t compute(const Instruction& in, const uint64_t* x, unsigned mode, unsigned& flags) {
  const auto row_and_format = static_cast<unsigned>(in.imm) >> kRounding;
  const auto row = static_cast<FloatInstruction>(row_and_format >> 1);
  return row_and_format & kDouble ? compute_in<Double>(row, in, x, mode, flags)
                                  : compute_in<Single>(row, in, x, mode, flags);
}

}  // namespace uncore
