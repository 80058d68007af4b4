// The capacity of a resolver: the sets and ways of its directory (entries) and of its data store
// (R7.5, R8).
//
// Interface: take_entry() and keep() take a way and may evict another entry; forget() and drop()
// free a way; use() updates the LRU order. `evict` is called with each entry that has lost its way.
// Invariant: only quiet entries are evicted; if no entry of a set is quiet, the set has more
// entries than ways until one becomes quiet.
#pragma once

#include <algorithm>

#include "resolver/timed_entry.hh"
#include "spec/resolver_spec.hh"
#include "storage/sets.hh"

namespace uncore {

// A set-associative array of entries. `kMember` is the flag in an entry that is true while the
// entry has a way in this array.
template <bool EntryTimes::* kMember>
class LineWays {
 public:
  LineWays(LineSize size, uint32_t sets, uint32_t ways)
      : ways_(ways), sets_(size, std::max(1u, sets)) {}

  // Gives the entry a way if it has none, and evicts the least recently used quiet entries of the
  // set until the set has no more entries than ways.
  template <class Evict>
  void add(TimedEntry& entry, Evict evict) {
    if (entry.*kMember) return;
    Ways<TimedEntry>& set = sets_.set_of(entry.line);
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
    sets_.set_of(entry.line).remove(entry);
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

  // Marks the entry as most recently used. Called when a request is handled, and when data are
  // stored or supplied (R8.2).
  void use(TimedEntry& entry) { entry.used = ++clock_; }

  // Gives the line of a request a directory entry, which may evict that of another line (R8.1).
  template <class Evict>
  void take_entry(TimedEntry& entry, Evict evict) {
    use(entry);
    tags_.add(entry, evict);
  }
  void forget(TimedEntry& entry) { tags_.remove(entry); }

  // Gives the entry's data a way in the store, which may evict other data (R7.5).
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
