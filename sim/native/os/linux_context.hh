// The context of Linux: the parts of the engine that it uses.
#pragma once

#include <vector>

#include "core/core.hh"

namespace uncore {

struct LinuxContext {
  const MachineSpec& machine;
  const JobSpec& job;
  const Agents& agents;
  AddressMap& map;
  FunctionalMemory& memory;
  Services& services;
  uint64_t room;                 // bytes of memory that the program may touch
  std::vector<Thread*> harts{};  // index: the hart's number; filled when the run begins

  const ProcessSpec& process() const { return job.process; }
};

}  // namespace uncore
