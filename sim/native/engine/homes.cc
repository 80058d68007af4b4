// Where lines live: slices and home nodes (rules A3 and A4).
#include "engine/engine.hh"

namespace uncore {
namespace {

constexpr uint64_t kRamLine = kRamBase >> kLineShift;
constexpr unsigned kPageLines = 64;  // home policies place 4 KiB pages

// The same mixing for slices on every host. 32 bits: a quicker division.
uint32_t mix(uint64_t line) { return static_cast<uint32_t>((line * 0x9E3779B97F4A7C15u) >> 32); }

}  // namespace

std::size_t Engine::slice_of(uint64_t line, std::size_t slices) const {
  if (slices == 1) return 0;
  if (job.slice >= 0) return static_cast<std::size_t>(job.slice) % slices;
  return mix(line) % static_cast<uint32_t>(slices);
}

Agent Engine::resolver_above(Agent child, uint64_t line, Agent toucher) {
  const std::vector<Agent>& parents = parents_[child];
  if (toucher != kNobody && job.home.kind == HomePolicy::Kind::first_touch) home(line, toucher);
  return parents.size() == 1 ? parents[0] : parents[home(line, toucher)];
}

Agent Engine::memory_agent(uint64_t line, int32_t fixed) {
  return first_memory_ +
         static_cast<Agent>(fixed >= 0 ? static_cast<uint32_t>(fixed) : home(line, kNobody));
}

uint32_t Engine::home(uint64_t line, Agent toucher) {
  const auto nodes = static_cast<uint32_t>(machine.memories.size());
  if (nodes == 1) return 0;
  switch (job.home.kind) {
    case HomePolicy::Kind::node:
      return job.home.node;
    case HomePolicy::Kind::interleave:
      return static_cast<uint32_t>(line / kPageLines % nodes);
    case HomePolicy::Kind::first_touch: {
      const auto [page, first] = pages_.try_emplace(line / kPageLines, 0);
      if (first && toucher != kNobody) page->second = nearest_node(toucher);
      return page->second;
    }
    default:
      break;
  }
  uint64_t offset = (line - kRamLine) << kLineShift;
  for (uint32_t k = 0; k < nodes; ++k) {
    if (offset < machine.memories[k].size) return k;
    offset -= machine.memories[k].size;
  }
  return 0;
}

uint32_t Engine::nearest_node(Agent core) {
  uint32_t nearest = 0;
  Time least = kNever;
  for (uint32_t k = 0; k < machine.memories.size(); ++k) {
    const Time t =
        fabric_.latency(machine.core_stops[core], machine.memories[k].stop, Size::control);
    if (t < least) least = t, nearest = k;
  }
  return nearest;
}

}  // namespace uncore
