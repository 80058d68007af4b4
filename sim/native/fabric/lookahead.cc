#include "fabric/lookahead.hh"

#include <algorithm>

#include "time/runs.hh"

namespace uncore {
namespace {

// Returns for each core whether a thread of the job runs on it.
std::vector<bool> cores_in_use(const Agents& agents) {
  std::vector<bool> used(agents.cores());
  for (uint32_t h = 0; h < agents.harts(); ++h) used[agents.core_of(h)] = true;
  return used;
}

// Returns the number of cores and resolver slices at each stop.
std::vector<int> agents_at_stops(const MachineSpec& machine) {
  std::vector<int> agents_at(machine.stop_count, 0);
  for (const int32_t stop : machine.core_stops) ++agents_at[stop];
  for (const ResolverSpec& r : machine.resolvers)
    for (const int32_t stop : r.slices) ++agents_at[stop];
  return agents_at;
}

// Returns the machine's links, and in addition links without latency that connect the slices of
// each resolver in a ring.
std::vector<LinkSpec> with_resolvers(const MachineSpec& machine) {
  std::vector<LinkSpec> links = machine.links;
  for (const ResolverSpec& r : machine.resolvers)
    for (std::size_t s = 0; s < r.slices.size(); ++s) {
      LinkSpec link{};
      link.source = r.slices[s];
      link.target = r.slices[(s + 1) % r.slices.size()];
      link.channel = -1;
      links.push_back(link);
    }
  return links;
}

// Returns Lookahead::subtrees of a core. `stops`: the least latency from each stop to the core.
std::vector<Time> subtree_latencies(const std::vector<Time>& stops,
                                    const std::vector<int32_t>& core_stops,
                                    const std::vector<bool>& used, std::size_t core) {
  std::vector<Time> subtrees(Runs::levels(core_stops.size()), kNever);
  for (std::size_t level = 0; level < subtrees.size(); ++level) {
    const std::size_t first = (core >> level ^ 1) << level;
    const std::size_t end = std::min(first + (std::size_t{1} << level), core_stops.size());
    for (std::size_t other = first; other < end; ++other)
      if (used[other]) subtrees[level] = std::min(subtrees[level], stops[core_stops[other]]);
  }
  return subtrees;
}

}  // namespace

std::vector<Lookahead> lookaheads(const MachineSpec& machine, const Agents& agents) {
  const Fabric fabric(machine.stop_count, with_resolvers(machine));
  const std::vector<int> agents_at = agents_at_stops(machine);
  const std::vector<bool> used = cores_in_use(agents);
  std::vector<Lookahead> all(agents.cores());
  for (std::size_t core = 0; core < all.size(); ++core) {
    if (!used[core]) continue;
    Lookahead& ahead = all[core];
    const int32_t own_stop = machine.core_stops[core];
    ahead.stops = fabric.least_latencies(own_stop);
    Time least = kNever;
    for (std::size_t stop = 0; stop < agents_at.size(); ++stop) {
      ahead.stops[stop] = std::max<Time>(1, ahead.stops[stop]);
      const int num_others = agents_at[stop] - (static_cast<int32_t>(stop) == own_stop);
      if (num_others > 0) least = std::min(least, ahead.stops[stop]);
    }
    if (least != kNever) ahead.least = least;
    ahead.farthest = ahead.least;
    for (std::size_t other = 0; other < all.size(); ++other)
      if (used[other] && other != core)
        ahead.farthest = std::max(ahead.farthest, ahead.stops[machine.core_stops[other]]);
    ahead.subtrees = subtree_latencies(ahead.stops, machine.core_stops, used, core);
  }
  return all;
}

std::vector<Lookahead> lookaheads_at_once(const Agents& agents) {
  Lookahead ahead;
  ahead.subtrees.assign(Runs::levels(agents.cores()), ahead.least);
  return std::vector<Lookahead>(agents.cores(), ahead);
}

}  // namespace uncore
