// The decoded text of a program, shared by all harts of a machine.
//
// Each instruction is decoded when a hart first comes to it, once for all harts. Memory is taken
// only where code was decoded: the table is zeroed pages of the operating system until then.
//
// Interface: find(pc) is the instruction there (perhaps still Op::undecoded), or null outside the
// range; those that follow it stand behind it, up to an undecoded one; drop() forgets everything
// decoded, which is fence.i.
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
    table_.reset(static_cast<Instruction*>(zeroed(size_ / 2 + kBehind, sizeof(Instruction))));
    if (!table_) throw std::bad_alloc();
  }

  CodePages pages;  // code of harts that translate addresses

  // calloc, not new: large zeroed blocks come from the system untouched. A run whose
  // memory is saved has others (storage/arena.hh).
  inline static void* (*zeroed)(std::size_t, std::size_t) = std::calloc;
  inline static void (*release)(void*) = std::free;

  Instruction* find(uint64_t pc) const {
    const uint64_t offset = pc - base_;
    return offset < size_ ? &table_[offset / 2] : nullptr;
  }
  // Returns the address of an instruction that find() has returned, or that follows one.
  uint64_t address(const Instruction& in) const {
    return base_ + 2 * static_cast<uint64_t>(&in - table_.get());
  }

  // Has the port of each hart that comes to `pc` told, from now on (Op::watched).
  void watch(uint64_t pc) {
    watched_.insert(pc);
    if (Instruction* const in = find(pc); in && in->op != Op::undecoded) in->op = Op::watched;
  }
  bool watches(uint64_t pc) const { return !watched_.empty() && watched_.contains(pc); }

  // Called by the hart that decoded the instruction at `in`.
  void decoded(const Instruction* in) {
    const auto index = static_cast<uint64_t>(in - table_.get());
    first_ = std::min(first_, index);
    last_ = std::max(last_, index + 1);
  }

  // Has decoded code ever been dropped?
  bool changed() const { return changed_; }
  // Forgets all decoded code. Only the span that was decoded is touched, so a guest may do this
  // often.
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

  static constexpr uint64_t kBehind = 2;  // undecoded instructions behind the end, to stop a line
  uint64_t base_, size_;
  std::unique_ptr<Instruction[], Free> table_;
  std::unordered_set<uint64_t> watched_;
  bool changed_ = false;
  uint64_t first_ = ~uint64_t{0}, last_ = 0;  // span of table_ that holds decoded code
};

}  // namespace uncore
