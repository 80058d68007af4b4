// membarrier (K10): every hart that runs a task of the program executes a fence.
//
// Invariant: a task's `fences` is the number of harts whose `waiting_` list contains the task.
#pragma once

#include <vector>

#include "os/scheduler.hh"

namespace uncore {

class Barriers {
 public:
  Barriers(const LinuxContext& context, const SpinLocks& locks, const Scheduler& scheduler)
      : context_(context), locks_(locks), scheduler_(scheduler), waiting_(context.agents.harts()) {}

  // Interrupts every hart that runs a task, and completes when all of them have executed a fence.
  Work fence_all(Task& by);
  // Executes a fence on `hart` on behalf of the tasks that wait for it. Called at a software
  // interrupt of the hart.
  Work interrupted(Flow& by, uint32_t hart);

  bool registered = false;  // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED has been called

 private:
  uint64_t line_of(uint32_t hart) const;  // the line that the hart polls while its task waits

  const LinuxContext& context_;
  const SpinLocks& locks_;
  const Scheduler& scheduler_;
  std::vector<std::vector<Task*>> waiting_;  // for each hart: the tasks that wait for its fence
};

}  // namespace uncore
