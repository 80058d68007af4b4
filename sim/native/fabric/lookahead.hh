// Lookahead: the least time after which an action elsewhere can affect a core (rule S2), as in
// conservative parallel simulation.
//
// A core or resolver affects another agent only by messages, perhaps through other agents. No chain
// of messages is faster than the fastest path of links between the stops where it begins and ends,
// so the latency of that path is a lower bound. Between two slices of a resolver the bound is 0,
// because a line that needs a way in one slice may cause a recall in another.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.hh"
#include "spec/agents.hh"
#include "spec/machine_spec.hh"

namespace uncore {

struct Lookahead {
  // Least time, in ps, after which an action of any other core or resolver can affect this core. It
  // is at least 1; it is 1 for a core without a thread, and if another agent is at the core's stop.
  Time least = 1;
  // Least time, at least 1 ps, after which an action of an agent at each stop can affect this core.
  // If empty, `least` holds for every stop.
  std::vector<Time> stops;
  // The same time for the farthest core that has a thread; at least `least`.
  Time farthest = 1;
  // subtrees[l] is the least such time of the cores below the sibling of this core's l-th ancestor
  // in the binary tree of all cores (time/runs.hh).
  std::vector<Time> subtrees;

  Time from(int32_t stop) const { return stops.empty() ? least : stops[stop]; }
};

// Returns the lookahead of each core.
std::vector<Lookahead> lookaheads(const MachineSpec& machine, const Agents& agents);
// Returns the lookahead of each core for a run in which some messages take no time. It is the least
// possible, because then latencies are no bound.
std::vector<Lookahead> lookaheads_at_once(const Agents& agents);

}  // namespace uncore
