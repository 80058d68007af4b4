// A hart's memory management unit, as plain data: its TLBs, the page-table walk under way, and the
// quick tables of the interpreter.
//
// The interpreter first looks an address up in a quick table (one each for loads, stores and code)
// with a single comparison: the key is the page's number and the mode of the access. The quick
// tables for data hold only pages that the first TLB level holds, and the one for code only pages
// that the second level holds. So times and outcomes depend on the TLBs alone.
//
// Interface: key() of an address; insert() puts a walk's result into the second level, promote()
// copies it to the first; cache() puts a TLB hit into a quick table; flush(). The page-table walk
// itself is in the hart (hart/translation.hh), because it accesses memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "mmu/page_table.hh"
#include "mmu/tlb.hh"

namespace uncore {

// The state of a page-table walk, and the answer to its last access.
struct Walk {
  bool active = false;
  bool waits = false;     // the walk's access to memory is under way
  bool answered = false;  // that access has returned `value`
  bool updates = false;   // the walk writes its leaf PTE back, with A or D set
  Right right = Right::read;
  unsigned level = 0;
  uint64_t address = 0, table = 0, value = 0;
  Pte pte{};  // the leaf that the walk updates
};

template <class Instruction>
class Mmu {
 public:
  explicit Mmu(TlbSpec spec)
      : latency(spec.latency),
        first(spec.first, spec.ways, spec.large),
        tlb(spec.second, spec.ways, spec.large) {
    forget();
  }

  static constexpr uint64_t kNone = ~uint64_t{0};

  // A page that may be accessed in the mode of `key`. A virtual address plus `offset` is the
  // physical address.
  struct QuickPage {
    uint64_t key, offset;
  };
  // A page of code: its decoded instructions, and the physical address of its first byte.
  struct Window {
    uint64_t key = kNone;
    Instruction* page = nullptr;
    uint64_t address = 0;
  };

  // The numbers of the physical pages that the last access wrote; kNone if it was not a store. A
  // store across two pages is made in two parts, the first of them to page `before`.
  struct WrittenPages {
    uint64_t last = kNone, before = kNone;
  };

  const uint64_t latency;
  Tlb first, tlb;  // first level, data only; second level, unified
  Walk walk;
  Window window;
  WrittenPages writes;

  // Sets the mode of the next accesses. A key has the mode, SUM and MXR above the 52 bits of the
  // page's number.
  void ask_as(unsigned mode, bool sum, bool mxr) {
    code_context_ = uint64_t{mode} << 52;
    context_ = code_context_ | (uint64_t{sum} << 2 | uint64_t{mxr} << 3) << 52;
  }
  uint64_t key(uint64_t address) const { return address >> kPageShift | context_; }
  uint64_t code_key(uint64_t pc) const { return pc >> kPageShift | code_context_; }

  const QuickPage& load(uint64_t address) const { return loads_[slot(address)]; }
  const QuickPage& store(uint64_t address) const { return stores_[slot(address)]; }
  // Returns the instruction at pc if it is in the current page of code, else null.
  Instruction* find(uint64_t pc) const {
    return code_key(pc) == window.key ? &window.page[pc % kPageBytes / 2] : nullptr;
  }
  // Makes the page of `pc` the current page of code again if it was executed recently. Returns
  // false if not; then `pc` must be translated.
  bool try_reuse_window(uint64_t pc) {
    const Window& cached = windows_[slot(pc)];
    if (cached.key != code_key(pc)) return false;
    window = cached;
    return true;
  }

  // Looks an address up without latency: data in the first level; code in the second, because the
  // first level holds no code.
  Tlb::Hit find(uint64_t address, uint16_t asid, Right right) const {
    return (right == Right::execute ? tlb : first).find(address, asid);
  }
  void cache(uint64_t address, uint64_t physical, Right right) {
    auto& table = right == Right::write ? stores_ : loads_;
    table[slot(address)] = {key(address), physical - address};
  }
  void cache(uint64_t pc, Instruction* page, uint64_t physical) {
    window = windows_[slot(pc)] = {code_key(pc), page, physical & ~(kPageBytes - 1)};
  }

  // Records that an access is about to be made at this physical address.
  void reached(uint64_t physical, bool write) {
    if (write)
      writes = {physical >> kPageShift, writes.last};
    else
      writes = {};
  }

  void insert(uint64_t address, unsigned size, Pte pte, uint16_t asid) {
    const bool all = tlb.insert(address, size, pte, asid);
    if (all) return forget_code();
    forget_code(address);
    forget_code(tlb.replaced_address());
  }
  // Copies a hit of the second level into the first.
  void promote(uint64_t address, Tlb::Hit hit) {
    const bool all = first.insert(address, hit.size, hit.entry->pte, hit.entry->asid);
    if (all) return forget_data();
    forget_data(address);
    forget_data(first.replaced_address());
  }
  void flush(std::optional<uint64_t> address, std::optional<uint16_t> asid) {
    const bool large_in_first = first.flush(address, asid);
    const bool dropped_large = tlb.flush(address, asid) || large_in_first;
    walk.active = false;
    if (!address || dropped_large) return forget();
    forget_data(*address);
    forget_code(*address);
  }
  // The functions forget...() remove pages from the quick tables, so that the next access looks its
  // page up in the TLBs. The TLBs themselves do not change.
  void forget() {
    forget_data();
    forget_code();
  }
  // Removes the physical page with this number from the quick table for stores, so that the next
  // store to it, by any virtual address, looks it up in the TLBs.
  void forget_stores(uint64_t number) {
    for (QuickPage& page : stores_)
      if (((page.key << kPageShift) + page.offset) >> kPageShift == number) page.key = kNone;
  }
  void forget_code() {
    windows_.fill({});
    window = {};
  }

 private:
  static constexpr std::size_t kSlots = 256;
  static std::size_t slot(uint64_t address) {
    const uint64_t page = address >> kPageShift;
    return (page ^ page >> 8) % kSlots;
  }
  void forget_data() {
    loads_.fill({kNone, 0});
    stores_.fill({kNone, 0});
  }
  void forget_data(uint64_t address) {
    loads_[slot(address)].key = stores_[slot(address)].key = kNone;
  }
  void forget_code(uint64_t address) { windows_[slot(address)].key = window.key = kNone; }

  uint64_t context_ = 0, code_context_ = 0;
  std::array<QuickPage, kSlots> loads_, stores_;
  std::array<Window, kSlots> windows_;
};

}  // namespace uncore
