// Where lines live: the slice of a resolver and the home node of each (rules A3 and A4); and so at
// which stop of the fabric an agent is met about a line.
//
// Invariant: a line's home is decided once, when a core first misses on it, and never changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "fabric/fabric.hh"
#include "spec/agents.hh"
#include "spec/spec.hh"
#include "storage/bytes.hh"

namespace uncore {

class AddressMap {
 public:
  AddressMap(const MachineSpec& machine, const JobSpec& job, const Agents& agents, Fabric& fabric)
      : machine_(machine),
        job_(job),
        agents_(agents),
        fabric_(fabric),
        size_(machine.line),
        span_(std::ranges::max(machine.memories, {}, &MemorySpec::size).size),
        some_free_(!job.free.empty()),
        stops_(agents.all()),
        last_slices_(machine.resolvers.size()) {
    for (Agent a = 0; a < static_cast<Agent>(stops_.size()); ++a) stops_[a] = only_stop(a);
  }

  LineSize line_size() const { return size_; }
  // A line's address over its size, by which it is hashed (A3, F1.1).
  uint64_t ordinal(uint64_t line) const { return size_.ordinal(line); }

  // Of a resolver, and where it stands; a transaction asks several times.
  struct Slice {
    uint64_t line = ~uint64_t{0};
    uint32_t number = 0;
    int32_t stop = 0;
  };
  const Slice& slice(std::size_t resolver, uint64_t line) const {
    Slice& last = last_slices_[resolver];
    if (last.line != line) last = slice_of(line, machine_.resolvers[resolver].slices);
    return last;
  }
  int32_t stop(Agent a, uint64_t line) const {
    const int32_t only = stops_[a];
    return only != kSliced ? only : slice(agents_.resolver_number(a), line).stop;
  }

  // The resolver that serves a line to `child`. `toucher`: the core that misses on it, or nobody.
  Agent resolver_above(Agent child, uint64_t line, Agent toucher) {
    const std::vector<Agent>& parents = agents_.parents(child);
    if (toucher != kNobody && first_touch()) home(line, toucher);
    return parents.size() == 1 ? parents[0] : parents[home(line, toucher)];
  }
  // The memory behind a root; `fixed`: the root's only node, or negative.
  Agent memory_of(uint64_t line, int32_t fixed) {
    return agents_.memory(fixed >= 0 ? static_cast<uint32_t>(fixed) : home(line, kNobody));
  }
  // Is the line one that costs nothing (docs/whatif.md)?
  bool free(uint64_t line) const { return some_free_ && is_free(line); }
  // Where the bytes at an address are kept (docs/whatif.md).
  uint64_t place(uint64_t address) const { return job_.moves.empty() ? address : moved(address); }
  // Does the order in which cores miss on pages decide where they are? Where there is a kernel, it
  // has placed them before (place_page).
  bool first_touch() const {
    return job_.home.kind == HomeSpec::Kind::first_touch && !job_.process.present;
  }
  // A kernel gives a program the page of this line, which `core` has touched.
  void place_page(uint64_t line, Agent core) {
    if (job_.home.kind == HomeSpec::Kind::first_touch) home(line, core);
  }

 private:
  static constexpr int32_t kSliced = -1;

  // Where an agent stands whatever the line is.
  int32_t only_stop(Agent a) const {
    if (agents_.is_core(a)) return machine_.core_stops[a];
    if (agents_.is_memory(a)) return machine_.memories[agents_.memory_number(a)].stop;
    const auto& slices = machine_.resolvers[agents_.resolver_number(a)].slices;
    return slices.size() == 1 ? slices[0] : kSliced;
  }
  Slice slice_of(uint64_t line, const std::vector<int32_t>& stops) const {
    const uint32_t which =
        job_.slice >= 0 ? static_cast<uint32_t>(job_.slice) : mix(size_.ordinal(line));
    const uint32_t number = which % static_cast<uint32_t>(stops.size());
    return {line, number, stops[number]};
  }
  // The same for lines on every host. 32 bits: a quicker division.
  static uint32_t mix(uint64_t line) {
    return static_cast<uint32_t>((line * 0x9E3779B97F4A7C15u) >> 32);
  }
  bool is_free(uint64_t line) const;
  uint64_t moved(uint64_t address) const;
  uint32_t home(uint64_t line, Agent toucher);
  uint32_t addressed(uint64_t line) const;
  uint32_t nearest_node(Agent core);

  const MachineSpec& machine_;
  const JobSpec& job_;
  const Agents& agents_;
  Fabric& fabric_;
  const LineSize size_;
  const uint64_t span_;  // from one node's addresses to the next one's
  const bool some_free_;
  std::vector<int32_t> stops_;                    // by agent
  mutable std::vector<Slice> last_slices_;        // by resolver: about which line last
  std::unordered_map<uint64_t, uint32_t> pages_;  // first touch: home by page
};

}  // namespace uncore
