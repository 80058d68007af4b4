// Decodes an instruction by comparing it with each row of isa/instructions.def. Each word is
// decoded only once, so a linear search is fast enough.
#include <iterator>

#include "hart/floating.hh"
#include "hart/instruction.hh"

namespace uncore {
namespace {

// Instruction formats: the fields that an instruction has, and their bits.
enum class Format : uint8_t {
  R,
  I,
  S,
  B,
  U,
  J,
  Shift,
  Csr,
  Fence,
  Atomic,
  FloatLoad,
  FloatStore,
  None
};

struct Row {
  Op op;
  uint32_t match, mask;
  Format format;
  Amo amo = Amo::swap;
};

constexpr Row kRows[] = {
#define ALU(name, match, mask, format, value) {Op::name, match, mask, Format::format},
#define LOAD(name, match, mask, type) {Op::name, match, mask, Format::I},
#define STORE(name, match, mask, type) {Op::name, match, mask, Format::S},
#define BRANCH(name, match, mask, taken) {Op::name, match, mask, Format::B},
#define AMO(name, funct5, operation) \
  {Op::amo, uint32_t{funct5} << 27 | 0x2f, 0xf800407f, Format::Atomic, Amo::operation},
#define LR(name, match, mask) {Op::name, match, mask, Format::Atomic},
#define PAUSE(name, match, mask) {Op::name, match, mask, Format::None},
#define FENCE(name, match, mask) {Op::name, match, mask, Format::Fence},
#define JUMP(name, match, mask, format, target) {Op::name, match, mask, Format::format},
#define CALL(name, match, mask, format, call) {Op::name, match, mask, Format::format},
#include "hart/isa/instructions.def"
};
static_assert(std::size(kRows) < 256);

// Returns the word's bits [high:low], shifted down to bit 0.
constexpr uint32_t bits(uint32_t word, unsigned high, unsigned low) {
  return word << (31 - high) >> (31 - high + low);
}

// Returns the `width` bits of `below`, sign-extended by the top bit of the word.
constexpr int64_t with_sign(uint32_t word, unsigned width, uint32_t below) {
  return (word >> 31 ? -(int64_t{1} << width) : 0) | int64_t{below};
}

int64_t immediate(Format format, uint32_t w) {
  switch (format) {
    case Format::I:
    case Format::FloatLoad:
      return with_sign(w, 11, bits(w, 30, 20));
    case Format::S:
    case Format::FloatStore:
      return with_sign(w, 11, bits(w, 30, 25) << 5 | bits(w, 11, 7));
    case Format::B:
      return with_sign(w, 12, bits(w, 7, 7) << 11 | bits(w, 30, 25) << 5 | bits(w, 11, 8) << 1);
    case Format::U:
      return static_cast<int32_t>(w & 0xfffff000);
    case Format::J:
      return with_sign(w, 20, bits(w, 19, 12) << 12 | bits(w, 20, 20) << 11 | bits(w, 30, 21) << 1);
    case Format::Shift:
      return bits(w, 25, 20);
    case Format::Csr:
    case Format::Fence:
      return bits(w, 31, 20);
    case Format::Atomic:
      return bits(w, 26, 25);
    case Format::R:
    case Format::None:
      return 0;
  }
  return 0;
}

bool has_rd(Format format) {
  return format != Format::S && format != Format::B && format != Format::Fence &&
         format != Format::FloatStore && format != Format::None;
}

bool has_rs1(Format format) {
  return format != Format::U && format != Format::J && format != Format::Fence &&
         format != Format::None;
}

bool has_rs2(Format format) {
  return format == Format::R || format == Format::S || format == Format::B ||
         format == Format::Atomic || format == Format::FloatStore;
}

Instruction fields(const Row& row, uint32_t word) {
  Instruction in;
  in.op = row.op;
  in.amo = row.amo;
  in.imm = immediate(row.format, word);
  if (has_rd(row.format) && bits(word, 11, 7) != 0) in.rd = bits(word, 11, 7);
  if (has_rs1(row.format)) in.rs1 = bits(word, 19, 15);
  if (has_rs2(row.format)) in.rs2 = bits(word, 24, 20);
  if (row.format == Format::FloatLoad) in.rd = kFloat + bits(word, 11, 7);
  if (row.format == Format::FloatStore) in.rs2 = kFloat + bits(word, 24, 20);
  if (row.format == Format::Atomic) in.size = 1u << bits(word, 14, 12);
  return in;
}

}  // namespace

Instruction decode(uint32_t word) {
  const bool compressed = (word & 3) != 3;
  if (compressed) word = expand(static_cast<uint16_t>(word));
  Instruction in = decode_floating(word);
  for (const Row& row : kRows) {
    if ((word & row.mask) == row.match) {
      in = fields(row, word);
      break;
    }
  }
  in.length = compressed ? 2 : 4;
  return in;
}

}  // namespace uncore
