// The children of a resolver that hold one line, by ordinal.
//
// `Set` is a set of ordinals. Invariant: every child that holds a copy is listed, though some that
// are listed may have dropped theirs silently; a resolver that snoops lists nobody (R3). The owner
// is not among the sharers. A resolver with few pointers acts as if all children shared, once more
// do than it can name (R11).
#pragma once

#include "coherence/message.hh"

namespace uncore {

template <class Set>
struct Holders {
  int owner = kNobody;
  uint32_t owner_grant = 0;  // the request that made it the owner
  Set sharers;
  bool unnamed = false;  // more share, or have shared, than `pointers`

  Holders(int children, int pointers) : sharers(children), pointers_(pointers) {}

  bool any() const { return owner != kNobody || shared(); }
  // It is known to hold a copy, unless it has dropped that silently.
  bool has(int child) const { return owner == child || (sharers.has(child) && !unnamed); }
  bool others_share(int child) const { return unnamed || sharers.any_but(child); }
  // The row of resolver.table that a request of this child meets; kNobody: the level's own.
  Children row(int child) const {
    if (owner == kNobody) return shared() ? Children::S : Children::N;
    if (owner == child) return Children::R;
    return others_share(child) ? Children::B : Children::W;
  }

  // Notes a grant to a child.
  void add_owner(int child, uint32_t grant) {
    sharers.remove(child);
    owner = child;
    owner_grant = grant;
  }
  void add_sharer(int child) {
    sharers.add(child);
    unnamed |= pointers_ != 0 && sharers.count() > pointers_;
  }

  // Makes the owner one of the sharers.
  void demote_owner() {
    add_sharer(owner);
    owner = kNobody;
  }
  // After a ProbeS the owner keeps ownership, a shared copy, or nothing.
  void owner_answered(uint8_t flags) {
    if (owner == kNobody || (flags & Flag::own)) return;
    if (flags & Flag::shared) add_sharer(owner);
    owner = kNobody;
  }
  void clear() {
    owner = kNobody;
    sharers.clear();
    unnamed = false;
  }
  // Those that may share, of `children`.
  template <class F>
  void each_sharer(int children, F f) const {
    if (!unnamed) return sharers.each(f);
    for (int c = 0; c < children; ++c)
      if (c != owner) f(c);
  }

 private:
  bool shared() const { return unnamed || sharers.any(); }

  int pointers_;  // 0: no limit
};

}  // namespace uncore
