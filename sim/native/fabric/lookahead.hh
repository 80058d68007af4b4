// How soon what happens elsewhere can reach a core (rule S2).
//
// Whatever one core or resolver does can concern another only by messages, perhaps over several
// agents; and no chain of messages is faster than the links between the stops where it begins and
// ends. So it takes at least the least latency of a way between these stops. From one slice of a
// resolver to another it takes no time: a line that needs room may recall one of another slice.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.hh"
#include "spec/agents.hh"

namespace uncore {

struct Lookahead {
  // From any other core or resolver, at least 1 ps; and 1 ps to a core that shares its stop with
  // another agent, or has no thread.
  Time least = 1;
  // From what stands at a stop, by stop, at least 1 ps; empty: `least` from everywhere.
  std::vector<Time> stops;
  // From the core with a thread that is farthest away; at least `least`.
  Time farthest = 1;
  // From the cores below the sibling of the core's l-th ancestor in a binary tree of all cores, by
  // l (time/runs.hh).
  std::vector<Time> subtrees;

  Time from(int32_t stop) const { return stops.empty() ? least : stops[stop]; }
};

// By core.
std::vector<Lookahead> lookaheads(const MachineSpec& machine, const Agents& agents);
// The same where some messages take no time, so that nothing but their order is known.
std::vector<Lookahead> lookaheads_at_once(const Agents& agents);

}  // namespace uncore
