#include "fabric/reach.hh"

#include <algorithm>

namespace uncore {

std::vector<Time> reaches(const MachineSpec& machine, const Agents& agents, const Fabric& fabric) {
  std::vector<int> standing(machine.stop_count, 0);  // cores and resolvers, by stop
  for (const int32_t stop : machine.core_stops) ++standing[stop];
  for (const ResolverSpec& r : machine.resolvers)
    for (const int32_t stop : r.slices) ++standing[stop];
  std::vector<bool> sources(machine.stop_count);
  std::transform(standing.begin(), standing.end(), sources.begin(), [](int n) { return n > 0; });

  std::vector<bool> used(agents.cores());
  for (uint32_t h = 0; h < agents.harts(); ++h) used[agents.core_of(h)] = true;
  std::vector<Time> all(agents.cores(), 1);
  for (std::size_t core = 0; core < all.size(); ++core) {
    const int32_t stop = machine.core_stops[core];
    if (!used[core] || standing[stop] > 1) continue;
    const Time least = fabric.nearest(sources, stop);
    all[core] = least == kNever ? 1 : std::max<Time>(1, least);
  }
  return all;
}

}  // namespace uncore
