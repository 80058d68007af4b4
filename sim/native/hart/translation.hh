// Translates the addresses of a hart with supervisor mode, by its TLBs and by page-table walks
// (privileged manual 4.3; rules P2).
//
// A walk's accesses go through the port like any other: loads of page-table entries, and a
// compare-and-swap if an entry must be marked accessed or dirty. An access that is answered later
// suspends the hart; after the answer the instruction is executed again, and the walk continues
// with the value returned.
//
// Interface: translate() an address; answered() when the suspended hart gets its answer; flush(),
// forget_code(), and `mmu` for the interpreter's quick tables.
#pragma once

#include <optional>
#include <utility>

#include "hart/addressing.hh"
#include "hart/hart_class.hh"

namespace uncore {

template <class Port>
class Translation {
 public:
  Translation(Hart<Port>& hart, TlbSpec tlb) : mmu(tlb), h_(hart) { h_.code.pages.add(mmu); }

  Mmu<Instruction> mmu;

  // Replaces the virtual address by the physical one.
  Reach translate(uint64_t& address, Right right);
  // Called when the access that the hart waits for has been performed. Returns true if it was an
  // access of a walk.
  bool answered(uint64_t value);
  void abandon_walk() { mmu.walk.active = false; }
  void forget_code();

 private:
  Reach locate(uint64_t& address, Right right);
  Reach walk(uint64_t address, Right right);
  void begin_walk(uint64_t page, Right right);
  Reach step();
  std::optional<Reach> interpret_entry();
  void others_see();

  Hart<Port>& h_;
  uint64_t aged_ = 0;  // value of CodePages::age_written_pages() when this hart last forgot code
};

template <class Port>
[[gnu::noinline]] Reach Translation<Port>::translate(uint64_t& address, Right right) {
  const uint64_t virtual_address = address;
  const bool code = right == Right::execute, write = right == Right::write;
  const auto& page = write ? mmu.store(virtual_address) : mmu.load(virtual_address);
  if (!code && page.key == mmu.key(virtual_address)) {
    address += page.offset;
  } else {
    if (const Reach reach = locate(address, right); !reach) return reach;
    if (write) h_.code.pages.write(address >> kPageShift);
    if (address >= h_.ram_begin && !code) mmu.cache(virtual_address, address, right);
  }
  mmu.reached(address, write);
  return {};
}

// Translates by the TLBs and, if they miss, by a walk.
template <class Port>
Reach Translation<Port>::locate(uint64_t& address, Right right) {
  const uint64_t virtual_address = address;
  const Privilege& p = h_.privilege;
  if (p.mode == Mode::machine || p.satp.levels() == 0) return {};
  if (!p.satp.canonical(virtual_address)) return page_fault(right);
  const AccessMode access_mode = p.access_mode();
  const auto decides = [&](Tlb::Hit in) {
    return in.entry && (!in.entry->pte.allows(right, access_mode) ||
                        in.entry->pte.bits == in.entry->pte.touched(right).bits);
  };
  Tlb::Hit hit = mmu.find(virtual_address, p.satp.asid(), right);
  if (!decides(hit)) {
    hit = mmu.tlb.find(virtual_address, p.satp.asid());
    if (decides(hit)) {
      if (right != Right::execute) h_.clock += mmu.latency;
    } else {
      if (const Reach reach = walk(virtual_address, right); !reach) return reach;
      hit = mmu.tlb.find(virtual_address, p.satp.asid());
    }
    if (right != Right::execute) mmu.promote(virtual_address, hit);
  }
  if (!hit.entry->pte.allows(right, access_mode)) return page_fault(right);
  address = hit.address;
  return {};
}

// ---- the walk (4.3.2)

template <class Port>
Reach Translation<Port>::walk(uint64_t address, Right right) {
  Walk& w = mmu.walk;
  const uint64_t page = address & ~(kPageBytes - 1);
  if (!w.active || w.address != page || w.right != right) begin_walk(page, right);
  for (;;) {
    if (!w.answered)
      if (const Reach reach = step(); !reach) return reach;
    w.answered = false;
    if (const auto end = interpret_entry()) {
      w.active = false;
      return *end;
    }
  }
}

template <class Port>
void Translation<Port>::begin_walk(uint64_t page, Right right) {
  const Satp satp = h_.privilege.satp;
  mmu.walk = {.active = true,
              .right = right,
              .level = satp.levels() - 1,
              .address = page,
              .table = satp.root()};
}

// Issues the walk's next access.
template <class Port>
Reach Translation<Port>::step() {
  Walk& w = mmu.walk;
  h_.spin.note_effect();
  const uint64_t index = w.address >> shift_of(w.level) & ((1u << kIndexBits) - 1);
  const uint64_t pte_address = w.table + index * sizeof(Pte);
  if (pte_address < h_.ram_begin || !h_.port.mapped(pte_address, sizeof(Pte))) {
    w.active = false;
    return access_fault(w.right);
  }
  const uint64_t touched = w.pte.touched(w.right).bits;
  if (w.updates) h_.code.pages.write(pte_address >> kPageShift);
  const Answer answer =
      w.updates ? h_.port.amo(Amo::cas, pte_address, sizeof(Pte), touched, w.pte.bits, w.value, 0)
                : h_.port.load(pte_address, sizeof(Pte), w.value);
  if (answer == Answer::now) return {};
  if (answer == Answer::retry) return Reach::End::retry;
  w.waits = h_.access.suspended = true;
  return Reach::End::later;
}

// Interprets the value that the walk's access returned. Returns nothing if the walk continues,
// Reach{} if the TLB has the page now, else a page fault.
template <class Port>
std::optional<Reach> Translation<Port>::interpret_entry() {
  Walk& w = mmu.walk;
  const bool updated = w.updates && w.value == w.pte.bits;
  if (w.updates && !updated) {  // another hart has changed the entry, so it is read again
    w.updates = false;
    return std::nullopt;
  }
  const Pte pte = updated ? w.pte.touched(w.right) : Pte{w.value};
  if (!pte.sound() || (!pte.leaf() && w.level == 0)) return page_fault(w.right);
  if (!pte.leaf()) {
    w.table = pte.address();
    --w.level;
    return std::nullopt;
  }
  if (pte.address() % (uint64_t{1} << shift_of(w.level)) != 0) return page_fault(w.right);
  if (!pte.allows(w.right, h_.privilege.access_mode())) return page_fault(w.right);
  if (pte.bits != pte.touched(w.right).bits) {
    w.pte = pte;
    w.updates = true;
    return std::nullopt;
  }
  mmu.insert(w.address, w.level, pte, h_.privilege.satp.asid());
  return Reach{};
}

// ---- reporting writes, and forgetting code

template <class Port>
bool Translation<Port>::answered(uint64_t value) {
  others_see();
  if (!std::exchange(mmu.walk.waits, false)) return false;
  mmu.walk.value = value;
  mmu.walk.answered = mmu.walk.active;
  return true;
}

// Reports the pages that the performed access has written, because other harts see it now
// (CodePages).
template <class Port>
void Translation<Port>::others_see() {
  const auto [last, before] = std::exchange(mmu.writes, {});
  h_.code.pages.write(last);
  h_.code.pages.write(before);
  if (mmu.walk.waits && mmu.walk.updates) h_.code.pages.write(mmu.walk.table >> kPageShift);
}

template <class Port>
void Translation<Port>::forget_code() {
  h_.spin.note_effect();
  if (const uint64_t age = h_.code.pages.age_written_pages(); age != aged_) {
    aged_ = age;
    mmu.forget_code();
  }
}

// ---- functions of Hart

template <class Port>
void Hart<Port>::supervise(TlbSpec tlb) {
  privilege.supervise();
  translation = std::make_unique<Translation<Port>>(*this, tlb);
  privilege_changed();
}

template <class Port>
void Hart<Port>::privilege_changed() {
  attention = interruptible();
  if (!translation) return;
  const AccessMode access_mode = privilege.access_mode();
  translation->mmu.ask_as(static_cast<unsigned>(mode()), access_mode.sum, access_mode.mxr);
}

template <class Port>
void Hart<Port>::flush(std::optional<uint64_t> address, std::optional<uint16_t> asid) {
  spin.note_effect();
  translation->mmu.flush(address, asid);
}

template <class Port>
void Hart<Port>::forget_code() {
  translation->forget_code();
}

}  // namespace uncore
