#include "observe/counters.hh"

#include <algorithm>

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
    const auto common = std::ranges::mismatch(shape_[to], shape_[from]);
    ++transfers_between[static_cast<std::size_t>(common.in1 - shape_[to].begin())];
  }
}

}  // namespace uncore
