// Maps a line to a slice of a resolver and to its home node (rules A3 and A4), and thus to the stop
// of the fabric at which an agent handles the line.
//
// Invariant: a line's home is decided when a core first misses on it, and does not change after
// that.
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
        line_offset_(line_offset(job)),
        some_free_(!job.free.empty()) {
    stops_.reserve(agents.count());
    for (Agent a = 0; a < static_cast<Agent>(agents.count()); ++a) stops_.push_back(stops_of(a));
  }

  LineSize line_size() const { return size_; }
  // Returns the number whose hash selects a line's slice (A3) and the routes of its messages
  // (F1.1).
  uint64_t ordinal(uint64_t line) const { return size_.ordinal(line) + line_offset_; }

  // Returns the stop at which an agent handles a line. An agent other than a resolver has one
  // slice.
  int32_t stop(Agent a, uint64_t line) const { return stop_of(a, mix(line)); }
  // The stops at which a message's route begins and ends.
  struct Ends {
    int32_t from, to;
  };
  Ends ends(Agent from, Agent to, uint64_t line) const {
    const uint32_t mixed = mix(line);
    return {stop_of(from, mixed), stop_of(to, mixed)};
  }
  // Returns the number of the resolver's slice that serves a line.
  uint32_t slice(Agent resolver, uint64_t line) const {
    const AgentStops& stops = stops_[resolver];
    return stops.first + stops.index_for(mix(line));
  }

  // Returns the resolver to which `child` sends a request for a line. `core` is the core that has
  // missed on the line, or kNobody.
  Agent resolver_above(Agent child, uint64_t line, Agent core) {
    const std::vector<Agent>& parents = agents_.parents(child);
    if (core != kNobody && first_touch()) home(line, core);
    return parents.size() == 1 ? parents[0] : parents[home(line, core)];
  }
  // Returns the memory that has the line. `fixed` is the number of the root's only node; it is
  // negative if the root has several nodes.
  Agent memory_of(uint64_t line, int32_t fixed) {
    return agents_.memory(fixed >= 0 ? static_cast<uint32_t>(fixed) : home(line, kNobody));
  }
  // Returns whether the job makes accesses to the line take no time (docs/whatif.md).
  bool costs_nothing(uint64_t line) const { return some_free_ && takes_no_time(line); }
  // Returns the address at which the bytes of `address` really are. It differs from `address` only
  // if the job moves them, as `uncore whatif` does (docs/whatif.md).
  uint64_t place(uint64_t address) const {
    return job_.moves.empty() ? address : moved_address(address);
  }
  // Returns whether the core that first misses on a page decides the page's home. The pages of a
  // Linux program are placed earlier, by the kernel (place_page).
  bool first_touch() const {
    return job_.home.kind == HomeSpec::Kind::first_touch && !job_.process.present;
  }
  // Decides the home of this line's page. The kernel calls it when it allocates a page that `core`
  // has touched first.
  void place_page(uint64_t line, Agent core) {
    if (job_.home.kind == HomeSpec::Kind::first_touch) home(line, core);
  }

 private:
  // The stops of an agent; a line's hash modulo their number selects one. Every message needs two
  // such remainders, so index_for() computes them by two multiplications instead of a division
  // (Lemire, Kaser and Kurz 2019).
  struct AgentStops {
    const int32_t* stops;
    uint64_t reciprocal;  // 2^64 / count, rounded up; 0 for a count of 1, whose remainder is 0
    uint32_t count, first = 0;

    AgentStops(const int32_t* first_stop, std::size_t num_stops)
        : stops(first_stop),
          reciprocal(~uint64_t{0} / num_stops + 1),
          count(static_cast<uint32_t>(num_stops)) {}
    uint32_t index_for(uint32_t mixed) const {
      using Wide = unsigned __int128;
      return static_cast<uint32_t>(Wide{reciprocal * mixed} * count >> 64);
    }
  };
  int32_t stop_of(Agent a, uint32_t mixed) const {
    const AgentStops& stops = stops_[a];
    return stops.stops[stops.index_for(mixed)];
  }
  AgentStops stops_of(Agent a) const;
  // Returns a hash of the line, which is the same on every host. It has 32 bits, as
  // AgentStops::index_for() requires.
  uint32_t mix(uint64_t line) const {
    return static_cast<uint32_t>((ordinal(line) * 0x9E3779B97F4A7C15u) >> 32);
  }
  // Returns the offset, in lines, that is added to every line's ordinal. It follows from the seed,
  // so that runs differ in the slices to which lines map (V10).
  static uint64_t line_offset(const JobSpec& job) {
    const uint32_t max_offset = job.slice < 0 ? job.chance.slice : 0;
    return static_cast<uint64_t>(Draws(Draws::slice, job.seed, 0, max_offset)(0));
  }
  bool takes_no_time(uint64_t line) const;
  uint64_t moved_address(uint64_t address) const;
  uint32_t home(uint64_t line, Agent core);
  uint32_t addressed_node(uint64_t line) const;
  uint32_t nearest_node(Agent core);

  const MachineSpec& machine_;
  const JobSpec& job_;
  const Agents& agents_;
  Fabric& fabric_;
  const LineSize size_;
  const uint64_t span_;  // size in bytes of each node's range of addresses
  const uint64_t line_offset_;
  const bool some_free_;
  std::vector<AgentStops> stops_;                 // agent -> its stops
  std::unordered_map<uint64_t, uint32_t> pages_;  // first touch: page -> home
};

}  // namespace uncore
