// A line's entry at a resolver: the protocol's entry (coherence/entry.hh), and the state that times
// and capacities need.
#pragma once

#include "resolver/resolver_at.hh"

namespace uncore {

struct EntryTimes {
  uint64_t used = 0;       // stamp for LRU
  Time repeats = 0;        // when the entry's data may leave again (R6.2)
  Agent origin = kNobody;  // the agent that supplied the data in hand
  bool in_store = false, in_tags = false;
  uint64_t last_use() const { return used; }
};

// Aligned so that the fields that an eviction reads lie in one cache line of the host.
struct alignas(64) TimedEntry : EntryTimes, Entry<ResolverAt> {
  using Entry::Entry;
};

}  // namespace uncore
