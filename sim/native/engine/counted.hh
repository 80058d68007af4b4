// The counters of a run, under the names that Python and the web page use.
//
// Interface: each_count(engine, lines, put) calls put(name, value) for each number or list of
// numbers. At most `lines` cache lines are listed: those fetched most often.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/engine.hh"
#include "observe/steady.hh"

namespace uncore {

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

inline constexpr std::size_t kAllLines = ~std::size_t{0};

// Returns the `max_lines` lines with the highest counts as pairs (address, count), the highest
// count first.
inline Pairs hottest_lines(const LineMap<uint64_t>& counts, std::size_t max_lines) {
  if (max_lines == 0) return {};
  Pairs lines(counts.begin(), counts.end());
  const auto count = static_cast<std::ptrdiff_t>(std::min(max_lines, lines.size()));
  std::ranges::partial_sort(lines, lines.begin() + count, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  lines.resize(static_cast<std::size_t>(count));
  for (auto& [line, count] : lines) line <<= kUnitShift;
  return lines;
}

template <class Put>
void each_count(const Engine& engine, std::size_t lines, Put put) {
  const Counters& c = engine.counters;
  put("events", c.events + engine.network.crossings());
  put("transactions", c.transactions);
  put("invalidations", c.invalidations);
  put("between", c.transfers_between);
  put("stored", c.transfers_stored);
  put("memory", c.transfers_memory);
  put("lines", hottest_lines(c.transfers_by_line, lines));
  put("failed_scs", c.scs.all());
  const bool lately = c.scs.any_since(engine.services.progress());
  put("failed_lately", lately ? hottest_lines(c.scs.by_line(), kAllLines) : Pairs{});
  std::vector<uint64_t> resolvers, channels;
  std::vector<std::array<uint64_t, 3>> taken;
  for (const auto& r : engine.resolvers) resolvers.push_back(r->slices().max_busy_time());
  for (const Channel& ch : engine.fabric.channels) {
    channels.push_back(ch.used);
    taken.push_back({ch.taken[0], ch.taken[1], ch.taken[2]});
  }
  put("resolver_busy", resolvers);
  put("channel_busy", channels);
  put("channel_taken", taken);
  Pairs caches, latencies;
  for (const MemoryCache& cache : engine.memories.caches())
    caches.emplace_back(cache.hits, cache.misses);
  put("memory_caches", caches);
  engine.services.latencies().each(
      [&](Time latency, uint64_t count) { latencies.emplace_back(latency, count); });
  put("latencies", latencies);
  const auto [operations, ps] = steady(engine.services.pace());
  put("steady", operations ? Pairs{{operations, ps}} : Pairs{});
}

}  // namespace uncore
