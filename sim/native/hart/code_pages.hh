// Decoded code by physical page, for harts that translate addresses; shared by all of them.
//
// A page has one table entry for every two bytes, and undecoded ones after the end, where
// straight-line execution stops. fence.i ages the pages that were written since they were decoded.
// An aged page is decoded again when a hart next enters it.
//
// A hart reports each write to a page (write()), both when it issues the access and when other
// harts may see it. It need not report a page that is in its quick table of stores, because a page
// is removed from all of these tables when its first instruction is decoded.
//
// Invariant: a page that holds code of its present age and is in a quick table of stores has been
// reported as written.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hart/instruction.hh"
#include "mmu/mmu.hh"

namespace uncore {

class CodePages {
 public:
  // An instruction that crosses the end of a page. Has the page of its second half, and the ages of
  // both pages when it was decoded.
  struct CrossingInstruction {
    uint64_t next = ~uint64_t{0}, age = 0, next_age = 0;
    Instruction code;
  };

  void add(Mmu<Instruction>& mmu) { mmus_.push_back(&mmu); }
  // Called if some writes are not reported when they become visible (C8). Then each fence.i ages
  // all pages.
  void expect_unreported_writes() { writes_are_reported_ = false; }

  // Returns the decoded code of a page; aged code is dropped first. The array stays at its address.
  Instruction* enter(uint64_t number) {
    Page& page = pages_[number];
    if (!page.code) page.code = std::make_unique<Instruction[]>(kInstructions + kEntriesAfterEnd);
    const bool aged = std::exchange(page.entered, age(page)) != age(page);
    if (aged && std::exchange(page.decoded, false))
      for (uint64_t i = 0; i < kInstructions; ++i) page.code[i].op = Op::undecoded;
    return page.code.get();
  }
  // Records that an instruction of the page has been decoded.
  void decoded(uint64_t number) { hold(number).decoded = true; }
  // Returns the decoded instruction that crosses the end of the page; null if there is none, or if
  // it has aged.
  const CrossingInstruction* across(uint64_t number) {
    const Page& page = pages_[number];
    const CrossingInstruction& across = page.across;
    const bool is_current = across.next != CrossingInstruction{}.next && across.age == age(page) &&
                            across.next_age == age(pages_[across.next]);
    return is_current ? &across : nullptr;
  }
  const CrossingInstruction& decoded(uint64_t number, uint64_t next, const Instruction& across) {
    Page &page = hold(number), &second = hold(next);
    return page.across = {next, age(page), age(second), across};
  }

  // Records a write to a page, which may or may not contain code.
  void write(uint64_t number) {
    const auto entry = pages_.find(number);
    if (entry == pages_.end() || !entry->second.holds) return;
    if (!std::exchange(entry->second.written, true)) written_.push_back(&entry->second);
  }
  // Performs a fence.i: ages the pages that were written. Returns the number of calls so far that
  // have aged code.
  uint64_t age_written_pages() {
    agings_ += !writes_are_reported_ || !written_.empty();
    agings_of_all_pages_ += !writes_are_reported_;
    for (Page* const page : written_) {
      page->holds = page->written = false;
      ++page->age;
    }
    written_.clear();
    return agings_;
  }

 private:
  static constexpr uint64_t kInstructions = kPageBytes / 2, kEntriesAfterEnd = 2;
  struct Page {
    std::unique_ptr<Instruction[]> code;
    uint64_t age = 0, entered = 0;
    bool decoded = false;  // the page has a decoded instruction
    bool holds = false;    // the page has a decoded instruction of its present age
    bool written = false;  // the page was written since it was decoded
    CrossingInstruction across;
  };
  uint64_t age(const Page& page) const { return page.age + agings_of_all_pages_; }
  Page& hold(uint64_t number) {
    Page& page = pages_[number];
    if (!std::exchange(page.holds, true))
      for (Mmu<Instruction>* const mmu : mmus_) mmu->forget_stores(number);
    return page;
  }

  std::unordered_map<uint64_t, Page> pages_;
  std::vector<Page*> written_;
  std::vector<Mmu<Instruction>*> mmus_;
  bool writes_are_reported_ = true;
  uint64_t agings_of_all_pages_ = 0, agings_ = 0;
};

}  // namespace uncore
