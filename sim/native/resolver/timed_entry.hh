// A line's entry at a resolver: the protocol's entry (coherence/entry.hh), and state for timing and
// capacity.
#pragma once

#include "resolver/resolver_at.hh"

namespace uncore {

struct EntryTimes {
  uint64_t used = 0;                       // number of the last use, for the LRU order
  Time readable_at = 0;                    // when the line's data can be read again (R6.2)
  Agent origin = kNobody;                  // the agent that supplied the data in hand
  bool in_store = false, in_tags = false;  // has a way in the data store, in the directory
  uint64_t last_use() const { return used; }
};

// Aligned so that the fields that an eviction reads lie in one cache line of the host.
struct alignas(64) TimedEntry : EntryTimes, Entry<ResolverAt> {
  using Entry::Entry;
};

}  // namespace uncore
