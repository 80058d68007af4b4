// The C extension: each 16-bit instruction stands for a 32-bit one. The order follows the tables of
// the unprivileged manual (chapter "C", instruction listing): by quadrant, then funct3.
#include "hart/instruction.hh"

namespace uncore {
namespace {

// A group of immediate bits: the instruction's bits [high:low] are the immediate's bits from `to`
// on.
struct Group {
  unsigned high, low, to;
};

constexpr uint32_t bits(uint32_t c, unsigned high, unsigned low) {
  return c >> low & ((1u << (high - low + 1)) - 1);
}

template <class... Groups>
constexpr uint32_t gather(uint32_t c, Groups... group) {
  return (... | (bits(c, group.high, group.low) << group.to));
}

// Returns the immediate sign-extended from its bit `top`.
constexpr uint32_t sign(uint32_t imm, unsigned top) {
  return imm >> top & 1 ? imm | ~0u << top : imm;
}

enum Register : uint32_t { zero = 0, ra = 1, sp = 2 };

constexpr uint32_t r(uint32_t funct7, uint32_t rs2, uint32_t rs1, uint32_t funct3, uint32_t rd,
                     uint32_t opcode) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t i(uint32_t imm, uint32_t rs1, uint32_t funct3, uint32_t rd, uint32_t opcode) {
  return imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t s(uint32_t imm, uint32_t rs2, uint32_t rs1, uint32_t funct3,
                     uint32_t opcode = 0x23) {
  return r(bits(imm, 11, 5), rs2, rs1, funct3, bits(imm, 4, 0), opcode);
}
constexpr uint32_t b(uint32_t imm, uint32_t rs1, uint32_t funct3) {
  const uint32_t rd = bits(imm, 4, 1) << 1 | bits(imm, 11, 11);
  return r(bits(imm, 12, 12) << 6 | bits(imm, 10, 5), zero, rs1, funct3, rd, 0x63);
}
constexpr uint32_t j(uint32_t imm) {
  return bits(imm, 20, 20) << 31 | bits(imm, 10, 1) << 21 | bits(imm, 11, 11) << 20 |
         bits(imm, 19, 12) << 12 | zero << 7 | 0x6f;
}

constexpr uint32_t addi(uint32_t rd, uint32_t rs1, uint32_t imm) {
  return i(imm, rs1, 0, rd, 0x13);
}
constexpr uint32_t lw(uint32_t rd, uint32_t rs1, uint32_t imm) { return i(imm, rs1, 2, rd, 0x03); }
constexpr uint32_t ld(uint32_t rd, uint32_t rs1, uint32_t imm) { return i(imm, rs1, 3, rd, 0x03); }
constexpr uint32_t fld(uint32_t rd, uint32_t rs1, uint32_t imm) { return i(imm, rs1, 3, rd, 0x07); }
constexpr uint32_t fsd(uint32_t rs2, uint32_t rs1, uint32_t imm) {
  return s(imm, rs2, rs1, 3, 0x27);
}
constexpr uint32_t jalr(uint32_t rd, uint32_t rs1) { return i(0, rs1, 0, rd, 0x67); }
constexpr uint32_t kEbreak = 0x00100073;

uint32_t quadrant0(uint32_t c) {
  const uint32_t rd = 8 + bits(c, 4, 2), rs1 = 8 + bits(c, 9, 7);
  const uint32_t word = gather(c, Group{12, 10, 3}, Group{6, 6, 2}, Group{5, 5, 6});
  const uint32_t doubleword = gather(c, Group{12, 10, 3}, Group{6, 5, 6});
  switch (bits(c, 15, 13)) {
    case 0: {
      const uint32_t imm =
          gather(c, Group{12, 11, 4}, Group{10, 7, 6}, Group{6, 6, 2}, Group{5, 5, 3});
      return imm != 0 ? addi(rd, sp, imm) : 0;
    }
    case 1:
      return fld(rd, rs1, doubleword);
    case 2:
      return lw(rd, rs1, word);
    case 3:
      return ld(rd, rs1, doubleword);
    case 5:
      return fsd(rd, rs1, doubleword);
    case 6:
      return s(word, rd, rs1, 2);
    case 7:
      return s(doubleword, rd, rs1, 3);
    default:
      return 0;
  }
}

// Quadrant 1, funct3 4: shifts, andi and the register-register operations on x8 to x15.
uint32_t arithmetic(uint32_t c, uint32_t imm6) {
  const uint32_t rd = 8 + bits(c, 9, 7), rs2 = 8 + bits(c, 4, 2);
  const uint32_t shamt = imm6 & 63;
  switch (bits(c, 11, 10)) {
    case 0:
      return i(shamt, rd, 5, rd, 0x13);  // srli
    case 1:
      return i(0x400 | shamt, rd, 5, rd, 0x13);  // srai
    case 2:
      return i(imm6, rd, 7, rd, 0x13);  // andi
    default:
      break;
  }
  switch (bits(c, 12, 12) << 2 | bits(c, 6, 5)) {
    case 0:
      return r(0x20, rs2, rd, 0, rd, 0x33);  // sub
    case 1:
      return r(0x00, rs2, rd, 4, rd, 0x33);  // xor
    case 2:
      return r(0x00, rs2, rd, 6, rd, 0x33);  // or
    case 3:
      return r(0x00, rs2, rd, 7, rd, 0x33);  // and
    case 4:
      return r(0x20, rs2, rd, 0, rd, 0x3b);  // subw
    case 5:
      return r(0x00, rs2, rd, 0, rd, 0x3b);  // addw
    default:
      return 0;
  }
}

uint32_t quadrant1(uint32_t c) {
  const uint32_t rd = bits(c, 11, 7);
  const uint32_t imm6 = sign(gather(c, Group{12, 12, 5}, Group{6, 2, 0}), 5);
  const uint32_t branch = sign(
      gather(c, Group{12, 12, 8}, Group{11, 10, 3}, Group{6, 5, 6}, Group{4, 3, 1}, Group{2, 2, 5}),
      8);
  switch (bits(c, 15, 13)) {
    case 0:
      return addi(rd, rd, imm6);
    case 1:
      return rd != 0 ? i(imm6, rd, 0, rd, 0x1b) : 0;  // addiw
    case 2:
      return addi(rd, zero, imm6);  // li
    case 3: {
      if (imm6 == 0) return 0;
      if (rd != sp) return imm6 << 12 | rd << 7 | 0x37;  // lui
      return addi(sp, sp,
                  sign(gather(c, Group{12, 12, 9}, Group{6, 6, 4}, Group{5, 5, 6}, Group{4, 3, 7},
                              Group{2, 2, 5}),
                       9));
    }
    case 4:
      return arithmetic(c, imm6);
    case 5:
      return j(sign(gather(c, Group{12, 12, 11}, Group{11, 11, 4}, Group{10, 9, 8}, Group{8, 8, 10},
                           Group{7, 7, 6}, Group{6, 6, 7}, Group{5, 3, 1}, Group{2, 2, 5}),
                    11));
    case 6:
      return b(branch, 8 + bits(c, 9, 7), 0);  // beqz
    default:
      return b(branch, 8 + bits(c, 9, 7), 1);  // bnez
  }
}

// Quadrant 2, funct3 4: jumps through registers, mv, add, ebreak.
uint32_t registers(uint32_t c) {
  const uint32_t rd = bits(c, 11, 7), rs2 = bits(c, 6, 2);
  const bool twin = bits(c, 12, 12) != 0;
  if (rs2 != 0) return r(0, rs2, twin ? rd : zero, 0, rd, 0x33);  // add, mv
  if (rd == 0) return twin ? kEbreak : 0;
  return jalr(twin ? ra : zero, rd);
}

uint32_t quadrant2(uint32_t c) {
  const uint32_t rd = bits(c, 11, 7), rs2 = bits(c, 6, 2);
  const uint32_t load = gather(c, Group{12, 12, 5}, Group{6, 5, 3}, Group{4, 2, 6});
  const uint32_t store = gather(c, Group{12, 10, 3}, Group{9, 7, 6});
  switch (bits(c, 15, 13)) {
    case 0:
      return i(gather(c, Group{12, 12, 5}, Group{6, 2, 0}), rd, 1, rd, 0x13);  // slli
    case 1:
      return fld(rd, sp, load);
    case 2:
      return rd != 0 ? lw(rd, sp, gather(c, Group{12, 12, 5}, Group{6, 4, 2}, Group{3, 2, 6})) : 0;
    case 3:
      return rd != 0 ? ld(rd, sp, load) : 0;
    case 4:
      return registers(c);
    case 5:
      return fsd(rs2, sp, store);
    case 6:
      return s(gather(c, Group{12, 9, 2}, Group{8, 7, 6}), rs2, sp, 2);
    case 7:
      return s(store, rs2, sp, 3);
    default:
      return 0;
  }
}

}  // namespace

uint32_t expand(uint16_t compressed) {
  switch (compressed & 3) {
    case 0:
      return quadrant0(compressed);
    case 1:
      return quadrant1(compressed);
    case 2:
      return quadrant2(compressed);
    default:
      return 0;
  }
}

}  // namespace uncore
