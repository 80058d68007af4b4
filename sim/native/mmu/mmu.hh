// A hart's memory management unit, as plain data: its TLBs, the walk under way, and what the
// interpreter looks at first.
//
// The interpreter looks into quick tables of loads, stores and code first, with a single
// comparison: their key is a page's number and the mode that asks. They hold no more data than the
// first level does, and no more code than the second: costs and outcomes follow from the TLBs
// alone.
//
// Interface: key() of an address; insert() a walk's result into the TLBs, promote() it to the first
// level; cache() what they have answered for the interpreter; flush(). The walk itself is the
// hart's (hart/translation.hh), for it accesses memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "mmu/page_table.hh"
#include "mmu/tlb.hh"

namespace uncore {

// A walk: where it is, and what its last access has answered.
struct Walk {
  bool active = false;
  bool waits = false;     // its access has been answered `later`,
  bool answered = false;  // and since with `value`
  bool updates = false;   // it writes its leaf back, touched
  Right right = Right::read;
  unsigned level = 0;
  uint64_t address = 0, table = 0, value = 0;
  Pte pte{};  // the leaf that it updates
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

  // A page that a mode may access: what to add to its addresses.
  struct Quick {
    uint64_t key, offset;
  };
  // A page of code: its instructions, and where it is.
  struct Window {
    uint64_t key = kNone;
    Instruction* page = nullptr;
    uint64_t address = 0;
  };

  // The pages that its last access writes, if it does: of its two halves, or one.
  struct Writes {
    uint64_t last = kNone, before = kNone;
  };

  const uint64_t latency;
  Tlb first, tlb;  // of data; of all
  Walk walk;
  Window window;
  Writes writes;

  // Modes, SUM and MXR stand above the 52 bits of a page's number.
  void ask_as(unsigned mode, bool sum, bool mxr) {
    code_context_ = uint64_t{mode} << 52;
    context_ = code_context_ | (uint64_t{sum} << 2 | uint64_t{mxr} << 3) << 52;
  }
  uint64_t key(uint64_t address) const { return address >> kPageShift | context_; }
  uint64_t code_key(uint64_t pc) const { return pc >> kPageShift | code_context_; }

  const Quick& load(uint64_t address) const { return loads_[slot(address)]; }
  const Quick& store(uint64_t address) const { return stores_[slot(address)]; }
  // The instruction at an address of the present page, or null.
  Instruction* find(uint64_t pc) const {
    return code_key(pc) == window.key ? &window.page[pc % kPageBytes / 2] : nullptr;
  }
  // Another page where it was lately. False: it has to be translated.
  bool look(uint64_t pc) {
    const Window& cached = windows_[slot(pc)];
    if (cached.key != code_key(pc)) return false;
    window = cached;
    return true;
  }

  // What the level says that is asked first; the second has no latency for code.
  Tlb::Hit find(uint64_t address, uint16_t asid, Right right) const {
    return (right == Right::execute ? tlb : first).find(address, asid);
  }
  void cache(uint64_t address, uint64_t physical, Right right) {
    auto& of = right == Right::write ? stores_ : loads_;
    of[slot(address)] = {key(address), physical - address};
  }
  void cache(uint64_t pc, Instruction* page, uint64_t physical) {
    window = windows_[slot(pc)] = {code_key(pc), page, physical & ~(kPageBytes - 1)};
  }

  // An access is about to be made at this physical address.
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
    forget_code(tlb.gone());
  }
  // What the second level has goes into the first, too.
  void promote(uint64_t address, Tlb::Hit hit) {
    const bool all = first.insert(address, hit.size, hit.entry->pte, hit.entry->asid);
    if (all) return forget_data();
    forget_data(address);
    forget_data(first.gone());
  }
  void flush(std::optional<uint64_t> address, std::optional<uint16_t> asid) {
    const bool large_in_first = first.flush(address, asid);
    const bool large = tlb.flush(address, asid) || large_in_first;
    walk.active = false;
    if (!address || large) return forget();
    forget_data(*address);
    forget_code(*address);
  }
  // What the interpreter looks at first: of all pages, of one, or of code.
  void forget() {
    forget_data();
    forget_code();
  }
  // Stores to the physical page with this number.
  void forget_stores(uint64_t number) {
    for (Quick& page : stores_)
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
  std::array<Quick, kSlots> loads_, stores_;
  std::array<Window, kSlots> windows_;
};

}  // namespace uncore
