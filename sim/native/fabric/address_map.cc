#include "fabric/address_map.hh"

#include <algorithm>

#include "hart/port.hh"
#include "storage/bytes.hh"

namespace uncore {
namespace {

constexpr uint64_t kRamLine = kRamBase >> kUnitShift;
constexpr unsigned kPageUnits = 64;  // home policies place 4 KiB pages

}  // namespace

// Returns the stops of an agent: one stop, or one for each slice of a resolver. If the job fixes
// the slice (A3), only the stop of that slice.
AddressMap::AgentStops AddressMap::stops_of(Agent a) const {
  if (agents_.is_core(a)) return {&machine_.core_stops[a], 1};
  if (agents_.is_memory(a)) return {&machine_.memories[agents_.memory_number(a)].stop, 1};
  const auto& slices = machine_.resolvers[agents_.resolver_number(a)].slices;
  if (job_.slice < 0) return {slices.data(), slices.size()};
  AgentStops stops(slices.data(), 1);
  stops.first = static_cast<uint32_t>(job_.slice) % static_cast<uint32_t>(slices.size());
  stops.stops += stops.first;
  return stops;
}

uint32_t AddressMap::home(uint64_t line, Agent core) {
  const auto nodes = static_cast<uint32_t>(machine_.memories.size());
  if (nodes == 1) return 0;
  switch (job_.home.kind) {
    case HomeSpec::Kind::node:
      return job_.home.node;
    case HomeSpec::Kind::interleave:
      return job_.home.node + static_cast<uint32_t>(line / kPageUnits % job_.home.nodes);
    case HomeSpec::Kind::first_touch: {
      const auto [page, first] = pages_.try_emplace(line / kPageUnits, 0);
      if (first && core != kNobody) page->second = nearest_node(core);
      return page->second;
    }
    default:
      return addressed_node(line);
  }
}

// Returns the home node by address: RAM is divided into one range for each node, in order.
uint32_t AddressMap::addressed_node(uint64_t line) const {
  const uint64_t node = ((line - kRamLine) << kUnitShift) / span_;
  return node < machine_.memories.size() ? static_cast<uint32_t>(node) : 0;
}

uint32_t AddressMap::nearest_node(Agent core) {
  uint32_t nearest = 0;
  Time least = kNever;
  for (uint32_t k = 0; k < machine_.memories.size(); ++k) {
    const Time t =
        fabric_.latency(machine_.core_stops[core], machine_.memories[k].stop, Size::control);
    if (t < least) least = t, nearest = k;
  }
  return nearest;
}

bool AddressMap::takes_no_time(uint64_t line) const {
  const auto after =
      std::ranges::upper_bound(job_.free, line << kUnitShift, {}, &SpanSpec::address);
  if (after == job_.free.begin()) return false;
  const SpanSpec& span = *std::prev(after);
  return (line << kUnitShift) - span.address < span.size;
}

uint64_t AddressMap::moved_address(uint64_t address) const {
  const auto after = std::ranges::upper_bound(job_.moves, address, {}, &MoveSpec::address);
  if (after == job_.moves.begin()) return address;
  const MoveSpec& move = *std::prev(after);
  return address - move.address < move.size ? address - move.address + move.to : address;
}

}  // namespace uncore
