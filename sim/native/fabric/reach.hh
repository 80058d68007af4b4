// How soon what happens elsewhere can reach a core (rule S2).
#pragma once

#include <vector>

#include "fabric/fabric.hh"
#include "spec/agents.hh"

namespace uncore {

// By core: the least latency from any other core or resolver, at least 1 ps; and 1 ps to a core
// that shares its stop with another agent, or has no thread.
std::vector<Time> reaches(const MachineSpec& machine, const Agents& agents, const Fabric& fabric);

}  // namespace uncore
