// The capacity of a resolver: its entries and its data, in sets of ways (R7.5, R8).
//
// Interface: take_entry and keep, which may evict; drop and forget; use. `evict` is called with
// each entry that has lost its way. Invariant: only quiet entries are evicted; if none is quiet, a
// set overflows for a while.
#pragma once

#include <algorithm>

#include "resolver/timed_entry.hh"
#include "spec/resolver_spec.hh"
#include "storage/sets.hh"

namespace uncore {

// Ways that lines take. `kMember` is the flag of an entry that has one.
template <bool EntryTimes::* kMember>
class LineWays {
 public:
  LineWays(LineSize size, uint32_t sets, uint32_t ways)
      : ways_(ways), sets_(size, std::max(1u, sets)) {}

  // Gives the entry a way, if it has none. Then the least recently used quiet entries lose theirs
  // until the set fits.
  template <class Evict>
  void add(TimedEntry& entry, Evict evict) {
    if (entry.*kMember) return;
    Ways<TimedEntry>& set = sets_.of(entry.line);
    set.add(entry);
    entry.*kMember = true;
    while (set.size() > ways_) {
      TimedEntry* const oldest =
          set.oldest([&](const TimedEntry& e) { return &e != &entry && e.quiet(); });
      if (!oldest) return;
      set.remove(*oldest);
      oldest->*kMember = false;
      evict(*oldest);
    }
  }
  void remove(TimedEntry& entry) {
    if (!(entry.*kMember)) return;
    sets_.of(entry.line).remove(entry);
    entry.*kMember = false;
  }

 private:
  const uint32_t ways_;
  Sets<TimedEntry> sets_;
};

class Capacity {
 public:
  Capacity(LineSize size, const ResolverSpec& spec)
      : counts_entries_(spec.entries > 0),
        tags_(size, spec.entries / std::max(1u, spec.ways), spec.ways),
        store_(size, spec.data_sets, spec.data_ways) {}

  bool counts_entries() const { return counts_entries_; }

  // R8.2: a request acts, or data are kept or supplied.
  void use(TimedEntry& entry) { entry.used = ++clock_; }

  // R8.1: a request whose line has no entry takes one, and may cost another its own.
  template <class Evict>
  void take_entry(TimedEntry& entry, Evict evict) {
    use(entry);
    tags_.add(entry, evict);
  }
  void forget(TimedEntry& entry) { tags_.remove(entry); }

  // R7.5: data have come, and may displace others.
  template <class Evict>
  void keep(TimedEntry& entry, Evict evict) {
    use(entry);
    store_.add(entry, evict);
  }
  void drop(TimedEntry& entry) { store_.remove(entry); }

 private:
  const bool counts_entries_;
  LineWays<&EntryTimes::in_tags> tags_;
  LineWays<&EntryTimes::in_store> store_;
  uint64_t clock_ = 0;
};

}  // namespace uncore
