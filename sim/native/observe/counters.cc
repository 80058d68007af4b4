#include "observe/counters.hh"

namespace uncore {

Counters::Counters(const MachineSpec& machine, const Agents& agents)
    : transfers_between(machine.shape.empty() ? 1 : machine.shape[0].size() + 1),
      transfers_stored(machine.resolvers.size()),
      shape_(machine.shape),
      agents_(agents) {}

bool Counters::mark_fetched(uint64_t line) {
  uint64_t& block = fetched_[line >> kBlockShift];
  const uint64_t bit = uint64_t{1} << line % (1 << kBlockShift);
  const bool first = !(block & bit);
  block |= bit;
  return first;
}

void Counters::transferred(Agent to, Agent from, uint64_t line, bool counts) {
  const bool from_memory = from == kNobody || agents_.is_memory(from);
  const bool cold = from_memory && mark_fetched(line);
  if (!counts) return;
  ++transfers_by_line[line];
  cold_misses += cold;
  if (from_memory) {
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
