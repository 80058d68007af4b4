#include "observe/counters.hh"

namespace uncore {

Counters::Counters(const MachineSpec& machine, const Agents& agents)
    : transfers_between(machine.shape.empty() ? 1 : machine.shape[0].size() + 1),
      transfers_stored(machine.resolvers.size()),
      shape_(machine.shape),
      agents_(agents) {}

void Counters::transferred(Agent to, Agent from, uint64_t line) {
  ++transfers_by_line[line];
  if (from == kNobody || agents_.is_memory(from)) {
    ++transfers_memory;
  } else if (agents_.is_resolver(from)) {
    ++transfers_stored[agents_.resolver_number(from)];
  } else {
    const std::vector<int32_t>&mine = shape_[to], &its = shape_[from];
    std::size_t common = 0;
    while (common < mine.size() && mine[common] == its[common]) ++common;
    ++transfers_between[common];
  }
}

}  // namespace uncore
