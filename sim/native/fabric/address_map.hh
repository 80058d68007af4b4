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
#include "time/chance.hh"

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
        further_(further(job)),
        some_free_(!job.free.empty()) {
    places_.reserve(agents.all());
    for (Agent a = 0; a < static_cast<Agent>(agents.all()); ++a) places_.push_back(place_of(a));
  }

  LineSize line_size() const { return size_; }
  // The number that chooses a line's slice (A3) and its ways (F1.1).
  uint64_t ordinal(uint64_t line) const { return size_.ordinal(line) + further_; }

  // Where an agent stands. Whatever has one stop is one slice.
  int32_t stop(Agent a, uint64_t line) const { return stop_of(a, mix(line)); }
  // Both ends of a message's way.
  struct Ends {
    int32_t from, to;
  };
  Ends ends(Agent from, Agent to, uint64_t line) const {
    const uint32_t mixed = mix(line);
    return {stop_of(from, mixed), stop_of(to, mixed)};
  }
  // Which of a resolver's slices serves a line.
  uint32_t slice(Agent resolver, uint64_t line) const {
    const Place& place = places_[resolver];
    return place.first + place.which(mix(line));
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
  // An agent's stops, of which a line chooses one. Every message asks for two of them, so the
  // remainder of a division is two products (Lemire, Kaser and Kurz 2019).
  struct Place {
    const int32_t* stops;
    uint64_t reciprocal;  // of their number; of 1 it is 0, and so is the remainder
    uint32_t count, first = 0;

    Place(const int32_t* at, std::size_t many)
        : stops(at), reciprocal(~uint64_t{0} / many + 1), count(static_cast<uint32_t>(many)) {}
    uint32_t which(uint32_t mixed) const {
      using Wide = unsigned __int128;
      return static_cast<uint32_t>(Wide{reciprocal * mixed} * count >> 64);
    }
  };
  int32_t stop_of(Agent a, uint32_t mixed) const {
    const Place& place = places_[a];
    return place.stops[place.which(mixed)];
  }
  Place place_of(Agent a) const;
  // The same for lines on every host. 32 bits: a quicker division.
  uint32_t mix(uint64_t line) const {
    return static_cast<uint32_t>((ordinal(line) * 0x9E3779B97F4A7C15u) >> 32);
  }
  // V10: how many lines further on a line lies than its address says.
  static uint64_t further(const JobSpec& job) {
    const uint32_t most = job.slice < 0 ? job.chance.slice : 0;
    return static_cast<uint64_t>(Draws(Draws::slice, job.seed, 0, most)(0));
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
  const uint64_t span_;     // from one node's addresses to the next one's
  const uint64_t further_;  // lines
  const bool some_free_;
  std::vector<Place> places_;                     // by agent
  std::unordered_map<uint64_t, uint32_t> pages_;  // first touch: home by page
};

}  // namespace uncore
