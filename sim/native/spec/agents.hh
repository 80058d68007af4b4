// The agents of a machine (rule A1), and which agent is a child of which. Agents are numbered:
// cores first, then resolvers from the inner levels to the outer ones, then memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coherence/message.hh"
#include "spec/job_spec.hh"
#include "spec/machine_spec.hh"
#include "spec/memory_spec.hh"
#include "spec/resolver_spec.hh"

namespace uncore {

class Agents {
 public:
  Agents(const MachineSpec& machine, const JobSpec& job)
      : first_resolver_(static_cast<Agent>(machine.core_stops.size())),
        first_memory_(first_resolver_ + static_cast<Agent>(machine.resolvers.size())),
        num_agents_(static_cast<std::size_t>(first_memory_) + machine.memories.size()),
        ordinals_(num_agents_, 0),
        parents_(num_agents_) {
    for (std::size_t r = 0; r < machine.resolvers.size(); ++r) {
      const std::vector<int32_t>& children = machine.resolvers[r].children;
      for (std::size_t c = 0; c < children.size(); ++c) {
        ordinals_[children[c]] = static_cast<int>(c);
        parents_[children[c]].push_back(resolver(r));
      }
    }
    for (const uint32_t position : job.placement)
      hart_cores_.push_back(machine.hart_cores[position]);
  }

  std::size_t count() const { return num_agents_; }
  std::size_t cores() const { return static_cast<std::size_t>(first_resolver_); }
  bool is_core(Agent a) const { return a < first_resolver_; }
  bool is_memory(Agent a) const { return a >= first_memory_; }
  bool is_resolver(Agent a) const { return !is_core(a) && !is_memory(a); }

  // These functions convert between the k-th resolver or memory and its number among all agents.
  Agent resolver(std::size_t k) const { return first_resolver_ + static_cast<Agent>(k); }
  Agent memory(std::size_t k) const { return first_memory_ + static_cast<Agent>(k); }
  std::size_t resolver_number(Agent a) const {
    return static_cast<std::size_t>(a - first_resolver_);
  }
  std::size_t memory_number(Agent a) const { return static_cast<std::size_t>(a - first_memory_); }

  // Returns the agent's place among its parent's children.
  int ordinal(Agent a) const { return ordinals_[a]; }
  // Returns the resolvers above the agent: one, or one for each node of memory.
  const std::vector<Agent>& parents(Agent a) const { return parents_[a]; }
  // Returns the core of a hart; harts are numbered as the job's threads are.
  Agent core_of(uint32_t hart) const { return hart_cores_[hart]; }
  uint32_t harts() const { return static_cast<uint32_t>(hart_cores_.size()); }

 private:
  Agent first_resolver_, first_memory_;
  std::size_t num_agents_;
  std::vector<int> ordinals_;
  std::vector<std::vector<Agent>> parents_;
  std::vector<Agent> hart_cores_;
};

}  // namespace uncore
