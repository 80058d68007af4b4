// A hart's TLB: what page-table walks have found.
//
// Sets of four ways for each size of page, replaced in turn; so which entry goes does not depend on
// how often others were used, and whoever keeps a copy of an entry need not tell when it does.
//
// Interface: find, insert, flush (an address or all, an address space or all). Invariant: a page of
// an address space is there at most once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mmu/page_table.hh"

namespace uncore {

// Of two levels; times in the unit of Hart::clock.
struct TlbSpec {
  uint32_t first, second;  // entries for pages of 4 KiB
  uint64_t latency;        // of a translation that only the second has
};

class Tlb {
 public:
  static constexpr unsigned kSizes = 4;  // 4 KiB, 2 MiB, 1 GiB, 512 GiB

  struct Entry {
    uint64_t page = ~uint64_t{0};  // its number among pages of its size; none has this one
    uint64_t address = 0;          // where its first byte is
    Pte pte;
    uint16_t asid = 0;

    bool answers(uint16_t space) const { return asid == space || pte.has(Pte::global); }
  };

  explicit Tlb(uint32_t entries) {
    for (unsigned size = 0; size < kSizes; ++size)
      sets_[size].resize(std::max<std::size_t>(1, (size ? kLarge : entries) / kWays));
  }

  // Where an address is, and the entry that says so.
  struct Found {
    const Entry* entry = nullptr;
    uint64_t address = 0;
    unsigned size = 0;
  };
  Found find(uint64_t address, uint16_t asid) const {
    for (unsigned size = 0; size < kSizes; ++size) {
      const unsigned shift = shift_of(size);
      const uint64_t page = address >> shift;
      for (const Entry& entry : set(size, page).ways)
        if (entry.page == page && entry.answers(asid))
          return {&entry, entry.address | (address & ((uint64_t{1} << shift) - 1)), size};
    }
    return {};
  }

  // True: an entry for a larger page than the smallest had to go.
  bool insert(uint64_t address, unsigned size, Pte pte, uint16_t asid) {
    const uint64_t page = address >> shift_of(size);
    Set& in = sets_[size][page % sets_[size].size()];
    Entry* const same = std::ranges::find_if(
        in.ways, [&](const Entry& e) { return e.page == page && e.answers(asid); });
    Entry& to = same != in.ways.end() ? *same : in.ways[in.next++ % kWays];
    const bool gone = to.page != Entry{}.page;
    gone_ = to.page << shift_of(size);
    to = {page, pte.address(), pte, asid};
    return gone && size > 0;
  }
  // The address whose entry made room last.
  uint64_t gone() const { return gone_; }

  // True: an entry for a larger page than the smallest had to go.
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
      if (address) {
        std::ranges::for_each(sets_[size][(*address >> shift_of(size)) % sets_[size].size()].ways,
                              drop);
      } else {
        for (Set& s : sets_[size]) std::ranges::for_each(s.ways, drop);
      }
    }
    return large;
  }

 private:
  static constexpr unsigned kWays = 4, kLarge = 32;
  struct Set {
    std::array<Entry, kWays> ways;
    uint32_t next = 0;
  };
  const Set& set(unsigned size, uint64_t page) const {
    return sets_[size][page % sets_[size].size()];
  }

  std::array<std::vector<Set>, kSizes> sets_;
  uint64_t gone_ = 0;
};

}  // namespace uncore
