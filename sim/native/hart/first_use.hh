// Finds how many instructions stand between a load and the first that waits for its value (rule
// H10).
//
//   decode_at_place(hart, address, word)
//
// Invariant: the answer depends on the code of the load's page alone, so it is the same for all
// harts and engines.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "hart/instruction.hh"
#include "hart/port.hh"

namespace uncore {

// The instructions behind a load in the order in which a processor expects to execute them:
// backward branches are taken, forward ones are not (H10.1). `fetch(address, word)` reads code, and
// returns false where there is none.
class ExpectedPath {
 public:
  static constexpr uint8_t kNoUse = 255;  // no instruction of the path waits for the value

  template <class Fetch>
  ExpectedPath(uint64_t address, const Instruction& load, Fetch&& fetch) {
    const uint64_t page = address / kPageBytes;
    uint64_t pc = address;
    path_[0] = load;
    while (goes_on(path_[length_ - 1]) && length_ < path_.size()) {
      pc += distance_to_next(path_[length_ - 1]);
      uint32_t word = 0;
      if (pc / kPageBytes != page || !fetch(pc, word)) return;
      const Instruction in = decode(word);
      if ((pc + in.length - 1) / kPageBytes != page) return;
      path_[length_++] = in;
    }
  }

  static bool is_load(const Instruction& in) { return role_of(in) == Role::loads; }

  // Returns kNoUse also if a later load of the path has its first use no farther behind it, because
  // the hart then waits for both values at the same time (H10.3).
  uint8_t instructions_before_use() const {
    const uint8_t distance = distance_to_use(0);
    if (distance == kNoUse) return kNoUse;
    for (unsigned i = 1; i <= distance; ++i)
      if (is_load(path_[i]) && distance_to_use(i) <= distance) return kNoUse;
    return distance;
  }

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr unsigned kPathInstructions = 24;

  // `orders`: the instruction waits for the values of all loads before it.
  enum class Role : uint8_t { computes, loads, stores, branches, jumps, idles, orders };

  static Role role_of(const Instruction& in) {
    switch (in.op) {
#define ALU(name, match, mask, format, value) \
  case Op::name:                              \
    return Role::computes;
#define LOAD(name, match, mask, type) \
  case Op::name:                      \
    return Role::loads;
#define STORE(name, match, mask, type) \
  case Op::name:                       \
    return Role::stores;
#define BRANCH(name, match, mask, taken) \
  case Op::name:                         \
    return Role::branches;
#define AMO(name, funct5, operation)
#define LR(name, match, mask)
#define PAUSE(name, match, mask) \
  case Op::name:                 \
    return Role::idles;
#define FENCE(name, match, mask) \
  case Op::name:                 \
    return orders_write_before_read(in.imm >> 4 & 15, in.imm & 15) ? Role::orders : Role::idles;
#define JUMP(name, match, mask, format, target) \
  case Op::name:                                \
    return Role::jumps;
#define CALL(name, match, mask, format, call)
#include "hart/isa/instructions.def"
      case Op::addi_sp:
      case Op::andi_sp:
      case Op::add_sp:
      case Op::sub_sp:
      case Op::slli_sp:
      case Op::floating:
        return Role::computes;
      case Op::flw:
      case Op::fld:
        return Role::loads;
      case Op::fsw:
      case Op::fsd:
        return Role::stores;
      case Op::marker:
      case Op::fence_tso:
        return Role::idles;
      default:
        return Role::orders;
    }
  }

  static bool goes_on(const Instruction& in) {
    return role_of(in) != Role::orders && in.op != Op::jalr;
  }
  static uint64_t distance_to_next(const Instruction& in) {
    const bool taken = in.op == Op::jal || (role_of(in) == Role::branches && in.imm < 0);
    return taken ? static_cast<uint64_t>(in.imm) : in.length;
  }

  // Returns the number of instructions between path_[load] and the first that waits for its value.
  uint8_t distance_to_use(unsigned load) const {
    std::bitset<kRegisters> late;
    late[path_[load].rd] = path_[load].rd != kSink;
    for (unsigned i = load + 1; i < length_; ++i) {
      const Instruction& in = path_[i];
      const Role role = role_of(in);
      const bool accesses = role == Role::loads || role == Role::stores;
      if (role == Role::orders || (accesses && late[in.rs1]))
        return static_cast<uint8_t>(i - load - 1);
      late[in.rd] = role == Role::computes && depends_on(in, late);
      late[kSink] = false;
    }
    return kNoUse;
  }
  static bool depends_on(const Instruction& in, const std::bitset<kRegisters>& late) {
    return late[in.rs1] || late[in.rs2] || (in.op == Op::floating && late[in.size]);
  }

  std::array<Instruction, kPathInstructions + 1> path_;  // the load itself is the first
  unsigned length_ = 1;
};

// Decodes the instruction at `address` for a hart. A load gets the distance to its first use as its
// `size`, unless no hart of the program stalls on use: to look ahead costs two dozen decodings.
template <class Hart>
Instruction decode_at_place(Hart& h, uint64_t address, uint32_t word) {
  Instruction in = decode(word);
  if (!h.code.finds_first_uses || !ExpectedPath::is_load(in)) return in;
  const auto fetch = [&h](uint64_t at, uint32_t& read) { return h.port.fetch(at, read); };
  in.size = ExpectedPath(address, in, fetch).instructions_before_use();
  return in;
}

}  // namespace uncore
