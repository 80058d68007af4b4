// The decoded text of a program, shared by all harts of a machine.
//
// Each instruction is decoded when a hart first reaches it, once for all harts. Host memory is used
// only for code that was decoded; the rest of the table is untouched zero pages of the operating
// system.
//
// Interface: find(pc) returns the instruction at pc (which may still be Op::undecoded), or null if
// pc is outside the range. The instructions that follow it are at following(), up to an undecoded
// one. drop() forgets all decoded code, as fence.i requires.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <unordered_set>

#include "hart/code_pages.hh"
#include "hart/instruction.hh"

namespace uncore {

class Code {
 public:
  Code(uint64_t base, uint64_t size) : base_(base), size_(size & ~uint64_t{1}) {
    table_.reset(
        static_cast<Instruction*>(zeroed(size_ / 2 + kEntriesAfterEnd, sizeof(Instruction))));
    if (!table_) throw std::bad_alloc();
  }

  CodePages pages;  // code of harts that translate addresses
  // A hart stalls on use (H10), so each load is decoded with the distance to its first use. Set
  // before any code is decoded.
  bool finds_first_uses = false;

  // The allocator is calloc instead of new, because large zeroed blocks come from the system
  // untouched. A run whose memory is saved sets other functions (storage/arena.hh).
  inline static void* (*zeroed)(std::size_t, std::size_t) = std::calloc;
  inline static void (*release)(void*) = std::free;

  Instruction* find(uint64_t pc) const {
    const uint64_t offset = pc - base_;
    return offset < size_ ? &table_[offset / 2] : nullptr;
  }
  // Returns the guest address of an instruction in the table.
  uint64_t address(const Instruction& in) const {
    return base_ + 2 * static_cast<uint64_t>(&in - table_.get());
  }

  // Makes the port's arrived() be called whenever its hart reaches `pc` (Op::watched).
  void watch(uint64_t pc) {
    watched_.insert(pc);
    if (Instruction* const in = find(pc); in && in->op != Op::undecoded) in->op = Op::watched;
  }
  bool watches(uint64_t pc) const { return !watched_.empty() && watched_.contains(pc); }

  // Called by the hart that has decoded the instruction `in` of the table.
  void decoded(const Instruction* in) {
    const auto index = static_cast<uint64_t>(in - table_.get());
    first_ = std::min(first_, index);
    last_ = std::max(last_, index + 1);
  }

  // Returns true if decoded code has ever been dropped.
  bool changed() const { return changed_; }
  // Forgets all decoded code. Only the span that was decoded is touched, so that frequent calls are
  // cheap.
  void drop() {
    changed_ |= first_ < last_;
    for (uint64_t i = first_; i < last_; ++i) table_[i].op = Op::undecoded;
    first_ = ~uint64_t{0};
    last_ = 0;
  }

 private:
  struct Free {
    void operator()(Instruction* table) const { release(table); }
  };

  // Number of undecoded instructions after the end, where straight-line execution stops.
  static constexpr uint64_t kEntriesAfterEnd = 2;
  uint64_t base_, size_;
  std::unique_ptr<Instruction[], Free> table_;
  std::unordered_set<uint64_t> watched_;
  bool changed_ = false;
  uint64_t first_ = ~uint64_t{0}, last_ = 0;  // span of indices of table_ with decoded code
};

}  // namespace uncore
