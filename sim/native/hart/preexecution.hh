// Pre-execution: executes the instructions after a waiting load on a copy of the registers, to find
// out which lines they will load (rule H9).
//
//   PreExecution(hart).go(window, foresee)
//
// `foresee(address, size, count)` is called for each load whose address is known; the load is
// `count` instructions after the one at pc. Invariant: the hart does not change, but code may be
// decoded.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include "hart/foreseen.hh"
#include "hart/interpreter.hh"

namespace uncore {

template <class Port>
class PreExecution {
 public:
  explicit PreExecution(Hart<Port>& hart) : h_(hart), pc_(hart.pc) {
    std::copy(std::begin(hart.x), std::end(hart.x), x_.begin());
  }

  template <class Foresee>
  void go(unsigned window, Foresee&& foresee) {
    const Instruction* in = decoded();
    if (!in) return;
    forget(in->rd);
    pc_ += in->length;
    for (unsigned count = 1; count <= window; ++count)
      if (!(in = decoded()) || !step(*in, count, foresee)) return;
  }

 private:
  struct WrittenBytes {
    uint64_t address;
    unsigned size;
  };

  // Returns the instruction at pc_; null if there is none.
  const Instruction* decoded() {
    Instruction* const in = h_.code.find(pc_);
    if (in && in->op == Op::undecoded && !execute::decode_at(h_, pc_, *in)) return nullptr;
    if (in && in->op != Op::watched) return in;
    uint32_t word = 0;
    if (!h_.port.fetch(pc_, word)) return nullptr;
    lone_code_ = decode(word);
    return &lone_code_;
  }

  bool known(const Instruction& in) const { return !unknown_[in.rs1] && !unknown_[in.rs2]; }
  void forget(unsigned rd) { unknown_[rd] = rd != kSink; }
  void set(unsigned rd, uint64_t value) {
    x_[rd] = value;
    unknown_[rd] = false;
  }
  bool on(const Instruction& in) {
    pc_ += in.length;
    return true;
  }

  // Pre-executes one instruction. Returns false if pre-execution ends here (H9.4).
  template <class Foresee>
  bool step(const Instruction& in, unsigned count, Foresee& foresee) {
    using namespace meaning;
    const auto& x = x_;
    switch (in.op) {
#define ALU(name, match, mask, format, expression)                \
  case Op::name: {                                                \
    [[maybe_unused]] const uint64_t a = x[in.rs1], b = x[in.rs2]; \
    [[maybe_unused]] const int64_t imm = in.imm;                  \
    [[maybe_unused]] const uint64_t pc = pc_;                     \
    known(in) ? set(in.rd, expression) : forget(in.rd);           \
    return on(in);                                                \
  }
#define BRANCH(name, match, mask, condition)                                                   \
  case Op::name: {                                                                             \
    const uint64_t a = x[in.rs1], b = x[in.rs2];                                               \
    const bool taken = known(in) ? (condition) : h_.predictor.predicts_taken(pc_, in.imm < 0); \
    pc_ += taken ? u(in.imm) : in.length;                                                      \
    return true;                                                                               \
  }
#define LOAD(name, match, mask, type) \
  case Op::name:                      \
    return load<type>(in, count, foresee);
#define STORE(name, match, mask, type) \
  case Op::name:                       \
    return store(in, sizeof(type));
#define AMO(name, funct5, operation)
#define LR(name, match, mask)
#define PAUSE(name, match, mask) \
  case Op::name:                 \
    return on(in);
#define FENCE(name, match, mask) \
  case Op::name:                 \
    return passes(in) && on(in);
#define JUMP(name, match, mask, format, where)     \
  case Op::name: {                                 \
    if (!known(in)) return false;                  \
    [[maybe_unused]] const uint64_t a = x[in.rs1]; \
    [[maybe_unused]] const int64_t imm = in.imm;   \
    const uint64_t here = pc_, target = where;     \
    set(in.rd, here + in.length);                  \
    pc_ = target;                                  \
    return true;                                   \
  }
#define CALL(name, match, mask, format, call)
#include "hart/isa/instructions.def"
      case Op::addi_sp:
        return move(in, x[in.rs1] + u(in.imm));
      case Op::andi_sp:
        return move(in, x[in.rs1] & u(in.imm));
      case Op::add_sp:
        return move(in, x[in.rs1] + x[in.rs2]);
      case Op::sub_sp:
        return move(in, x[in.rs1] - x[in.rs2]);
      case Op::slli_sp:
        return move(in, x[in.rs1] << in.imm);
      case Op::fence_tso:
        return !h_.port.weak_order() && on(in);
      case Op::floating:
        forget(in.rd);
        return on(in);
      case Op::flw:
        return load<uint32_t>(in, count, foresee);
      case Op::fld:
        return load<uint64_t>(in, count, foresee);
      case Op::fsw:
        return store(in, 4);
      case Op::fsd:
        return store(in, 8);
      default:
        return false;
    }
  }

  bool move(const Instruction& in, uint64_t value) {
    known(in) ? set(in.rd, value) : forget(in.rd);
    return on(in);
  }

  template <class T, class Foresee>
  bool load(const Instruction& in, unsigned count, Foresee& foresee) {
    const bool findable = !unknown_[in.rs1];
    const uint64_t address = x_[in.rs1] + static_cast<uint64_t>(in.imm);
    forget(in.rd);
    on(in);
    if (!findable || overwritten(address, sizeof(T))) return true;
    if (address < h_.ram_begin || !h_.port.mapped(address, sizeof(T))) return false;
    const ForeseenLoad seen = foresee(address, static_cast<unsigned>(sizeof(T)), count);
    if (seen.what == ForeseenLoad::What::value)
      set(in.rd, std::is_signed_v<T> ? sign_extend(seen.value, sizeof(T)) : seen.value);
    return seen.what != ForeseenLoad::What::end;
  }

  bool store(const Instruction& in, unsigned size) {
    if (!unknown_[in.rs1]) written_.push_back({x_[in.rs1] + static_cast<uint64_t>(in.imm), size});
    return on(in);
  }

  bool overwritten(uint64_t address, unsigned size) const {
    return std::ranges::any_of(written_, [&](const WrittenBytes& w) {
      return address < w.address + w.size && w.address < address + size;
    });
  }

  bool passes(const Instruction& fence) const {
    const auto sets = static_cast<unsigned>(fence.imm);
    const unsigned predecessor = sets >> 4 & 15, successor = sets & 15;
    if (h_.port.weak_order()) return !(successor & (kInput | kReads));
    return !orders_write_before_read(predecessor, successor);
  }

  Hart<Port>& h_;
  uint64_t pc_;
  std::array<uint64_t, kRegisters> x_;
  std::bitset<kRegisters> unknown_;
  std::vector<WrittenBytes> written_;
  Instruction lone_code_;  // the instruction at pc_, if the table does not have it
};

}  // namespace uncore
