// Decoded code by physical page, for harts that translate addresses; shared by all of them.
//
// A page has one instruction for every two bytes, and undecoded ones behind, where a straight line
// ends. fence.i ages all pages; an aged one is decoded anew by whoever enters it next.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "hart/instruction.hh"
#include "mmu/page_table.hh"

namespace uncore {

class CodePages {
 public:
  // The instruction whose first half ends a page: where its other half was.
  struct Across {
    uint64_t next = 0, age = ~uint64_t{0};
    Instruction code;
  };

  // Of the page with this number. It stays where it is.
  Instruction* enter(uint64_t number) {
    Page& page = pages_[number];
    if (!page.code) page.code = std::make_unique<Instruction[]>(kInstructions + kBehind);
    if (page.age != age_ && page.decoded)
      for (uint64_t i = 0; i < kInstructions; ++i) page.code[i].op = Op::undecoded;
    page.decoded &= page.age == age_;
    page.age = age_;
    return page.code.get();
  }
  // One has been decoded on the page with this number.
  void decoded(uint64_t number) { pages_[number].decoded = true; }
  // The one that leaves the page with this number; null: none, or it has aged.
  const Across* across(uint64_t number) const {
    const auto found = pages_.find(number);
    if (found == pages_.end() || found->second.across.age != age_) return nullptr;
    return &found->second.across;
  }
  const Across& decoded(uint64_t number, uint64_t next, const Instruction& across) {
    return pages_[number].across = {next, age_, across};
  }
  void grow_old() { ++age_; }

 private:
  static constexpr uint64_t kInstructions = kPageBytes / 2, kBehind = 2;
  struct Page {
    std::unique_ptr<Instruction[]> code;
    uint64_t age = 0;
    bool decoded = false;
    Across across;
  };
  std::unordered_map<uint64_t, Page> pages_;
  uint64_t age_ = 0;
};

}  // namespace uncore
