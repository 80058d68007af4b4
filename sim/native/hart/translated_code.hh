// Fetches and decodes the instruction at pc for harts that translate addresses (rule P3).
#pragma once

#include "hart/first_use.hh"
#include "hart/traps.hh"

namespace uncore::execute {

// The result of a fetch. If `in` is null, a trap was entered (`goes_on` is true), or the hart
// stops.
struct FetchResult {
  Instruction* in = nullptr;
  bool goes_on = true;
};

// Decodes an instruction whose halves are on two pages. It is not in the page's table, because the
// mapping of the second page may change.
template <class Port>
FetchResult decode_across(Hart<Port>& h, uint64_t first) {
  uint64_t second = h.pc + 2;
  if (const Reach reach = h.translation->translate(second, Right::execute); !reach)
    return {nullptr, trap_unreached(h, reach, h.pc + 2)};
  if (second < h.ram_begin || !h.port.mapped(second, 2))
    return {nullptr, trap(h, kFetchFault, h.pc + 2)};
  const uint64_t page = first >> kPageShift, next = second >> kPageShift;
  const CodePages::CrossingInstruction* across = h.code.pages.across(page);
  if (!across || across->next != next) {
    uint32_t low = 0, high = 0;
    h.port.fetch(first, low);
    h.port.fetch(second, high);
    across = &h.code.pages.decoded(page, next, decode((low & 0xffff) | high << 16));
  }
  h.lone_code[0] = across->code;
  return {h.lone_code};
}

template <class Port>
FetchResult decode_here(Hart<Port>& h, Instruction& in) {
  const uint64_t physical = h.translation->mmu.window.address + h.pc % kPageBytes;
  const uint64_t page = physical >> kPageShift;
  const bool last = h.pc % kPageBytes == kPageBytes - 2;
  if (last && h.code.pages.across(page)) return decode_across(h, physical);
  uint32_t word = 0;
  h.port.fetch(physical, word);
  if (last && (word & 3) == 3) return decode_across(h, physical);
  in = decode_at_place(h, physical, word);
  h.code.pages.decoded(page);
  return {&in};
}

// Makes the page at pc, which is not in the quick tables, the present code page.
template <class Port>
Reach enter_page(Hart<Port>& h) {
  uint64_t physical = h.pc;
  if (const Reach reach = h.translation->translate(physical, Right::execute); !reach) return reach;
  if (physical < h.ram_begin || !h.port.mapped(physical, 2)) return kFetchFault;
  h.translation->mmu.cache(h.pc, h.code.pages.enter(physical >> kPageShift), physical);
  return {};
}

template <class Port>
FetchResult fetch(Hart<Port>& h) {
  Mmu<Instruction>& mmu = h.translation->mmu;
  if (mmu.code_key(h.pc) != mmu.window.key && !mmu.try_reuse_window(h.pc))
    if (const Reach reach = enter_page(h); !reach) return {nullptr, trap_unreached(h, reach, h.pc)};
  Instruction* const in = mmu.find(h.pc);
  return in->op == Op::undecoded ? decode_here(h, *in) : FetchResult{in};
}

}  // namespace uncore::execute
