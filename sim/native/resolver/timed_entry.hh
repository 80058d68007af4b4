// A line's entry at a resolver: that of the protocol (coherence/entry.hh), and what times and
// capacities add.
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

// Aligned so that all that an eviction reads of an entry is in one cache line of the host.
struct alignas(64) TimedEntry : EntryTimes, Entry<ResolverAt> {
  using Entry::Entry;
};

}  // namespace uncore
