// The children of a resolver that hold one line, by ordinal.
//
// A resolver that snoops knows nobody, and lists nobody (R3). Some of those that are listed may
// have dropped their copy silently. `Set` holds children by ordinal.
#pragma once

#include "coherence/message.hh"

namespace uncore {

template <class Set>
struct Holders {
  int owner = kNobody;
  uint32_t owner_grant = 0;  // the request that made it the owner
  Set sharers;

  explicit Holders(int children) : sharers(children) {}

  bool any() const { return owner != kNobody || sharers.any(); }
  bool has(int child) const { return owner == child || sharers.has(child); }
  bool others_share(int child) const {
    bool others = false;
    sharers.each([&](int c) { others |= c != child; });
    return others;
  }
  // The row of resolver.table that a request of this child meets.
  Children row(int child) const {
    if (owner == kNobody) return sharers.any() ? Children::S : Children::N;
    if (owner == child) return Children::R;
    return others_share(child) ? Children::B : Children::W;
  }

  // Notes a grant to a child.
  void add_owner(int child, uint32_t grant) {
    sharers.remove(child);
    owner = child;
    owner_grant = grant;
  }
  void add_sharer(int child) { sharers.add(child); }

  // The owner is one of the sharers from now on.
  void demote_owner() {
    sharers.add(owner);
    owner = kNobody;
  }
  // After a ProbeS the owner keeps ownership, a shared copy, or nothing.
  void owner_answered(uint8_t flags) {
    if (owner == kNobody || (flags & Flag::own)) return;
    if (flags & Flag::shared) sharers.add(owner);
    owner = kNobody;
  }
  void clear() {
    owner = kNobody;
    sharers.clear();
  }
};

}  // namespace uncore
