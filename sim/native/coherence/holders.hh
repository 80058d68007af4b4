// The children of a resolver that hold one line, by ordinal: a directory entry's owner and sharers.
//
// `Set` is a set of ordinals. Invariant: every child that holds a copy is listed; a listed child
// may have dropped its copy silently. The owner is not among the sharers. A snooping resolver lists
// no child (R3). When more children share than a limited directory has pointers for, the pointers
// overflow: from then on whole regions of children count as sharers (R11).
#pragma once

#include <algorithm>

#include "coherence/message.hh"

namespace uncore {

template <class Set>
struct Holders {
  int owner = kNobody;
  uint32_t owner_grant = 0;  // number of the request whose grant made the owner
  Set sharers;
  bool overflowed = false;  // at some time more children shared than there are pointers

  Holders(int children, int pointers) : sharers(children), pointers_(pointers) {}

  bool any() const { return owner != kNobody || shared(); }
  // Returns whether the child is recorded as a holder itself, not only as a member of a region. It
  // may have dropped its copy since.
  bool has(int child) const { return owner == child || (sharers.has(child) && !overflowed); }
  bool others_share(int child) const { return overflowed || sharers.any_but(child); }
  // Returns the row of resolver.table for a request by this child. `child` is kNobody if there is
  // no requester, as in a recall.
  Children row(int child) const {
    if (owner == kNobody) return shared() ? Children::S : Children::N;
    if (owner == child) return Children::R;
    return others_share(child) ? Children::B : Children::W;
  }

  // Records a grant to a child.
  void add_owner(int child, uint32_t grant) {
    sharers.remove(child);
    owner = child;
    owner_grant = grant;
  }
  void add_sharer(int child) {
    sharers.add(child);
    overflowed |= pointers_ != 0 && sharers.count() > pointers_;
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
    overflowed = false;
  }
  // Calls f for each child that may share. If the pointers have overflowed, these are all children
  // of each region that has a listed sharer. `children`: the number of the resolver's children;
  // `region`: the number of children in a region.
  template <class F>
  void each_sharer(int children, int region, F f) const {
    if (!overflowed) return sharers.each(f);
    for (int first = 0; first < children; first += region) {
      const int end = std::min(first + region, children);
      if (region < children && !shares_in(first, end)) continue;
      for (int c = first; c < end; ++c)
        if (c != owner) f(c);
    }
  }

  // Returns the sharer whose copy must be invalidated before `child` is given one, so that at most
  // `pointers_` children hold the line (R11.3): the next sharer after `child`, in circular order.
  // Returns kNobody if a pointer is free.
  int displaced_by(int child) const {
    const int num_holders = sharers.count() - sharers.has(child) + (owner != kNobody);
    if (num_holders < pointers_) return kNobody;
    int first = kNobody, next = kNobody;
    sharers.each([&](int c) {
      if (c == child) return;
      if (first == kNobody) first = c;
      if (next == kNobody && c > child) next = c;
    });
    return next == kNobody ? first : next;
  }

 private:
  bool shared() const { return overflowed || sharers.any(); }
  bool shares_in(int first, int end) const {
    for (int c = first; c < end; ++c)
      if (sharers.has(c)) return true;
    return false;
  }

  int pointers_;  // 0: no limit
};

}  // namespace uncore
