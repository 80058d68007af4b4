// A hart's TLB: results of page-table walks.
//
// Each page size has its own sets, whose ways are replaced round-robin. So the choice of a victim
// does not depend on use, and hits in the quick tables (mmu.hh) need not be reported here.
//
// Interface: find, insert, flush (an address or all, an address space or all). Invariant: the TLB
// has at most one entry for a page of an address space.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mmu/page_table.hh"

namespace uncore {

// The sizes of both TLB levels. Times are in the unit of Hart::clock.
struct TlbSpec {
  uint32_t first, second;         // entries for pages of 4 KiB
  uint64_t latency;               // time of a hit in the second level
  uint32_t ways = 4, large = 32;  // ways of a set; entries for each page size above 4 KiB
};

class Tlb {
 public:
  static constexpr unsigned kSizes = 4;  // 4 KiB, 2 MiB, 1 GiB, 512 GiB

  struct Entry {
    uint64_t page = ~uint64_t{0};  // virtual address divided by the page size; ~0: no entry
    uint64_t address = 0;          // physical address of the page's first byte
    Pte pte;
    uint16_t asid = 0;

    bool answers(uint16_t space) const { return asid == space || pte.has(Pte::global); }
  };

  Tlb(uint32_t entries, uint32_t ways, uint32_t large) {
    for (unsigned size = 0; size < kSizes; ++size) sets_[size] = Sets(size ? large : entries, ways);
  }

  // The result of find(): the physical address, and the entry that maps it, null for a miss.
  struct Hit {
    const Entry* entry = nullptr;
    uint64_t address = 0;
    unsigned size = 0;
  };
  Hit find(uint64_t address, uint16_t asid) const {
    for (unsigned size = 0; size < kSizes; ++size) {
      const unsigned shift = shift_of(size);
      const uint64_t page = address >> shift;
      for (const Entry& entry : sets_[size].set_of(page))
        if (entry.page == page && entry.answers(asid))
          return {&entry, entry.address | (address & ((uint64_t{1} << shift) - 1)), size};
    }
    return {};
  }

  // Adds an entry, or overwrites the page's present one. Returns true if this replaced an entry for
  // a page larger than 4 KiB.
  bool insert(uint64_t address, unsigned size, Pte pte, uint16_t asid) {
    const uint64_t page = address >> shift_of(size);
    const std::span<Entry> set = sets_[size].set_of(page);
    const auto same = std::ranges::find_if(
        set, [&](const Entry& e) { return e.page == page && e.answers(asid); });
    Entry& to = same != set.end() ? *same : set[sets_[size].next(page)];
    const bool replaces = to.page != Entry{}.page;
    replaced_address_ = to.page << shift_of(size);
    to = {page, pte.address(), pte, asid};
    return replaces && size > 0;
  }
  // Returns the virtual address of the entry that the last insert() replaced.
  uint64_t replaced_address() const { return replaced_address_; }

  // Drops the entries for an address, or for all addresses, in one address space or in all. Returns
  // true if one of them was for a page larger than 4 KiB.
  bool flush(std::optional<uint64_t> address, std::optional<uint16_t> asid) {
    bool large = false;
    for (unsigned size = 0; size < kSizes; ++size) {
      const auto drop = [&](Entry& e) {
        const bool other = asid && (e.pte.has(Pte::global) || e.asid != *asid);
        if (e.page == Entry{}.page || other) return;
        if (address && e.page != *address >> shift_of(size)) return;
        e = {};
        large |= size > 0;
      };
      const bool all = !address;
      std::ranges::for_each(
          all ? sets_[size].all() : sets_[size].set_of(*address >> shift_of(size)), drop);
    }
    return large;
  }

 private:
  // The sets for one size of page. If there are fewer entries than ways, they are one set.
  class Sets {
   public:
    Sets() = default;
    Sets(uint32_t entries, uint32_t ways)
        : ways_(std::min(ways, entries)),
          turns_(entries / ways_),
          entries_(turns_.size() * ways_) {}

    std::span<Entry> all() { return entries_; }
    std::span<Entry> set_of(uint64_t page) {
      return std::span(entries_).subspan(begin(page), ways_);
    }
    std::span<const Entry> set_of(uint64_t page) const {
      return std::span(entries_).subspan(begin(page), ways_);
    }
    // Returns the way that is replaced next in the page's set.
    std::size_t next(uint64_t page) { return turns_[page % turns_.size()]++ % ways_; }

   private:
    std::size_t begin(uint64_t page) const { return page % turns_.size() * ways_; }

    uint32_t ways_ = 0;
    std::vector<uint32_t> turns_;  // number of replacements in each set
    std::vector<Entry> entries_;
  };

  std::array<Sets, kSizes> sets_;
  uint64_t replaced_address_ = 0;
};

}  // namespace uncore
