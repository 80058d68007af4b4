// What a run has counted, by the names that Python and a page know.
//
// Interface: each_count(engine, put) calls put(name, value) of each number or list of numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/engine.hh"

namespace uncore {

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

// Lines by a count, most first.
inline Pairs hottest(const LineMap<uint64_t>& counts) {
  Pairs lines(counts.begin(), counts.end());
  std::ranges::sort(lines, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (auto& [line, count] : lines) line <<= kUnitShift;
  return lines;
}

template <class Put>
void each_count(const Engine& engine, Put put) {
  const Counters& c = engine.counters;
  put("events", c.events + engine.network.crossings());
  put("transactions", c.transactions);
  put("invalidations", c.invalidations);
  put("between", c.transfers_between);
  put("stored", c.transfers_stored);
  put("memory", c.transfers_memory);
  put("lines", hottest(c.transfers_by_line));
  put("failed_scs", c.scs.all());
  const bool lately = c.scs.any_since(engine.services.progress());
  put("failed_lately", lately ? hottest(c.scs.by_line()) : Pairs{});
  std::vector<uint64_t> resolvers, channels;
  std::vector<std::array<uint64_t, 3>> taken;
  for (const auto& r : engine.resolvers) resolvers.push_back(r->slices().busiest());
  for (const Channel& ch : engine.fabric.channels) {
    channels.push_back(ch.used);
    taken.push_back({ch.taken[0], ch.taken[1], ch.taken[2]});
  }
  put("resolver_busy", resolvers);
  put("channel_busy", channels);
  put("channel_taken", taken);
  Pairs latencies;
  engine.services.latencies().each(
      [&](Time latency, uint64_t count) { latencies.emplace_back(latency, count); });
  put("latencies", latencies);
}

}  // namespace uncore
