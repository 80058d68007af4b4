// The children of a resolver that hold one line, by ordinal.
//
// `Set` is a set of ordinals. Invariant: every child that holds a copy is listed, though some that
// are listed may have dropped theirs silently; a resolver that snoops lists nobody (R3). The owner
// is not among the sharers.
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
  bool others_share(int child) const { return sharers.any_but(child); }
  // The row of resolver.table that a request of this child meets; kNobody: the level's own.
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

  // Makes the owner one of the sharers.
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
