// The memory-side cache of a node (M2). It has tags only, which decide latencies; the bytes stay in
// the node's memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory/memory_channel.hh"
#include "spec/memory_spec.hh"
#include "storage/bytes.hh"
#include "storage/line_map.hh"

namespace uncore {

class MemoryCache {
 public:
  MemoryCache(LineSize size, const MemorySpec& node)
      : channel(node.cache_busy), size_(size), count_(node.cache_sets), ways_(node.cache_ways) {}

  bool exists() const { return count_ > 0; }

  // Result of an access (M2.4). hit: the line was cached; evicts: a dirty line was evicted and must
  // be written to memory.
  struct Use {
    bool hit, evicts;
  };
  Use use(uint64_t line, bool written) {
    std::vector<Way>& set = sets_[size_.ordinal(line) % count_];
    const auto found = std::ranges::find(set, line, &Way::line);
    const bool hit = found != set.end();
    ++(hit ? hits : misses);
    if (hit)
      std::rotate(found, found + 1, set.end());
    else
      set.push_back({line, false});
    set.back().dirty |= written;
    if (set.size() <= ways_) return {hit, false};
    const bool dirty = set.front().dirty;
    set.erase(set.begin());
    return {hit, dirty};
  }

  MemoryChannel channel;
  uint64_t hits = 0, misses = 0;

 private:
  struct Way {
    uint64_t line;
    bool dirty;
  };

  LineSize size_;
  uint32_t count_, ways_;
  LineMap<std::vector<Way>> sets_;  // set index -> its ways, the least recently used first
};

}  // namespace uncore
