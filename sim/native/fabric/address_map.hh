// Maps a line to a slice of a resolver and to its home node (rules A3 and A4), and thus to the stop
// of the fabric at which an agent handles the line.
//
// Invariant: a line's home is decided once, when a core first misses on it, and never changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "fabric/fabric.hh"
#include "spec/agents.hh"
#include "spec/home_spec.hh"
#include "spec/job_spec.hh"
#include "spec/machine_spec.hh"
#include "spec/memory_spec.hh"
#include "spec/move_spec.hh"
#include "spec/span_spec.hh"
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
  // Returns the number that selects a line's slice (A3) and the routes of its messages (F1.1).
  uint64_t ordinal(uint64_t line) const { return size_.ordinal(line) + further_; }

  // Returns the stop at which an agent handles a line. An agent other than a resolver has one
  // slice.
  int32_t stop(Agent a, uint64_t line) const { return stop_of(a, mix(line)); }
  // Both ends of a message's route.
  struct Ends {
    int32_t from, to;
  };
  Ends ends(Agent from, Agent to, uint64_t line) const {
    const uint32_t mixed = mix(line);
    return {stop_of(from, mixed), stop_of(to, mixed)};
  }
  // Returns the number of the resolver's slice that serves a line.
  uint32_t slice(Agent resolver, uint64_t line) const {
    const Place& place = places_[resolver];
    return place.first + place.which(mix(line));
  }

  // Returns the resolver that `child` asks for a line. `toucher` is the core that has missed on the
  // line, or kNobody.
  Agent resolver_above(Agent child, uint64_t line, Agent toucher) {
    const std::vector<Agent>& parents = agents_.parents(child);
    if (toucher != kNobody && first_touch()) home(line, toucher);
    return parents.size() == 1 ? parents[0] : parents[home(line, toucher)];
  }
  // Returns the memory that has the line. `fixed` is the only node of the root that asks; negative
  // if the root has several nodes.
  Agent memory_of(uint64_t line, int32_t fixed) {
    return agents_.memory(fixed >= 0 ? static_cast<uint32_t>(fixed) : home(line, kNobody));
  }
  // Returns whether the job makes accesses to the line take no time (docs/whatif.md).
  bool costs_nothing(uint64_t line) const { return some_free_ && is_free(line); }
  // Returns the address at which the bytes of `address` are placed. They are elsewhere only if the
  // job moves them, as in `uncore whatif` (docs/whatif.md).
  uint64_t place(uint64_t address) const { return job_.moves.empty() ? address : moved(address); }
  // Returns whether a page's home is decided by the core that first misses on it. A Linux program's
  // pages are placed before that, by its kernel (place_page).
  bool first_touch() const {
    return job_.home.kind == HomeSpec::Kind::first_touch && !job_.process.present;
  }
  // Decides the home of this line's page. The kernel calls it when it gives a program a page, which
  // `core` was the first to touch.
  void place_page(uint64_t line, Agent core) {
    if (job_.home.kind == HomeSpec::Kind::first_touch) home(line, core);
  }

 private:
  // The stops of an agent, of which a line's hash selects one. Every message needs two such
  // lookups, so which() computes the remainder by two multiplications instead of a division
  // (Lemire, Kaser and Kurz 2019).
  struct Place {
    const int32_t* stops;
    uint64_t reciprocal;  // 2^64 / count, rounded up; 0 for a count of 1, whose remainder is 0
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
  // Returns a hash of the line, the same on every host. Place::which() needs it to have 32 bits.
  uint32_t mix(uint64_t line) const {
    return static_cast<uint32_t>((ordinal(line) * 0x9E3779B97F4A7C15u) >> 32);
  }
  // Returns the offset, in lines, that the seed adds to every line's ordinal, so that runs differ
  // in the slices that lines map to (V10).
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
  const uint64_t span_;     // bytes from one node's addresses to the next one's
  const uint64_t further_;  // the seed's offset, in lines
  const bool some_free_;
  std::vector<Place> places_;                     // agent -> its stops
  std::unordered_map<uint64_t, uint32_t> pages_;  // first touch: page -> home
};

}  // namespace uncore
