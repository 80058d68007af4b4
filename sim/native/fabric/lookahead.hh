// Lookahead: the least time after which an action elsewhere can affect a core (rule S2).
//
// A core or resolver can affect another only by messages, perhaps over several agents, and no chain
// of messages is faster than the links between the stops where it begins and ends. So the effect
// takes at least the least latency of a path between these stops. From one slice of a resolver to
// another it takes no time: a line that needs room may recall one of another slice.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.hh"
#include "spec/agents.hh"
#include "spec/machine_spec.hh"

namespace uncore {

struct Lookahead {
  // Time from any other core or resolver, at least 1 ps; 1 ps for a core that shares its stop with
  // another agent, or has no thread.
  Time least = 1;
  // Time from the agents at each stop, at least 1 ps; empty: `least` from everywhere.
  std::vector<Time> stops;
  // Time from the farthest core with a thread; at least `least`.
  Time farthest = 1;
  // subtrees[l]: time from the cores below the sibling of the core's l-th ancestor in a binary tree
  // of all cores (time/runs.hh).
  std::vector<Time> subtrees;

  Time from(int32_t stop) const { return stops.empty() ? least : stops[stop]; }
};

// Returns the lookahead of each core.
std::vector<Lookahead> lookaheads(const MachineSpec& machine, const Agents& agents);
// The same for a run in which some messages take no time, so that only their order is known.
std::vector<Lookahead> lookaheads_at_once(const Agents& agents);

}  // namespace uncore
