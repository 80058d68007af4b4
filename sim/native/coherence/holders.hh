// The children of a resolver that hold one line, by ordinal.
//
// `Set` is a set of ordinals. Invariant: every child that holds a copy is listed, though some that
// are listed may have dropped theirs silently; a resolver that snoops lists nobody (R3). The owner
// is not among the sharers. A resolver with few pointers acts as if whole regions of children
// shared once more children share than it can name (R11).
#pragma once

#include <algorithm>

#include "coherence/message.hh"

namespace uncore {

template <class Set>
struct Holders {
  int owner = kNobody;
  uint32_t owner_grant = 0;  // the request that made it the owner
  Set sharers;
  bool unnamed = false;  // more children share, or have shared, than `pointers`

  Holders(int children, int pointers) : sharers(children), pointers_(pointers) {}

  bool any() const { return owner != kNobody || shared(); }
  // Is the child known to hold a copy, unless it has dropped that silently?
  bool has(int child) const { return owner == child || (sharers.has(child) && !unnamed); }
  bool others_share(int child) const { return unnamed || sharers.any_but(child); }
  // Returns the row of resolver.table that a request of this child meets. `child` is kNobody for
  // what the level does on its own behalf.
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
  // Records the owner's answer to a ProbeS: it keeps ownership, a shared copy, or nothing.
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
  // Calls f for each child that may share. If more share than can be named, these are all children
  // of each region that has a listed sharer. `children`: the resolver's; `region`: the size of one.
  template <class F>
  void each_sharer(int children, int region, F f) const {
    if (!unnamed) return sharers.each(f);
    for (int first = 0; first < children; first += region) {
      const int end = std::min(first + region, children);
      if (region < children && !shares_in(first, end)) continue;
      for (int c = first; c < end; ++c)
        if (c != owner) f(c);
    }
  }

  // Returns the child whose copy must go before this one is given a copy, if at most `pointers_`
  // may have one (R11.3): the next sharer after it. kNobody: there is a pointer for the child.
  int displaced_by(int child) const {
    const int named = sharers.count() - sharers.has(child) + (owner != kNobody);
    if (named < pointers_) return kNobody;
    int first = kNobody, next = kNobody;
    sharers.each([&](int c) {
      if (c == child) return;
      if (first == kNobody) first = c;
      if (next == kNobody && c > child) next = c;
    });
    return next == kNobody ? first : next;
  }

 private:
  bool shared() const { return unnamed || sharers.any(); }
  bool shares_in(int first, int end) const {
    for (int c = first; c < end; ++c)
      if (sharers.has(c)) return true;
    return false;
  }

  int pointers_;  // 0: no limit
};

}  // namespace uncore
