// membarrier (K10): every hart that runs the program fences.
//
// Invariant: a task's `fences` is the number of harts on whose lists the task stands.
#pragma once

#include <vector>

#include "os/scheduler.hh"

namespace uncore {

class Barriers {
 public:
  Barriers(const LinuxContext& context, const SpinLocks& locks, const Scheduler& scheduler)
      : context_(context), locks_(locks), scheduler_(scheduler), waiting_(context.agents.harts()) {}

  // Interrupts every hart that runs a task; ends when all of them have fenced.
  Work fence_all(Task& by);
  // Lets `hart` fence for the tasks that wait for that. Called at its software interrupt.
  Work interrupted(Flow& by, uint32_t hart);

 private:
  uint64_t line_of(uint32_t hart) const;  // the line that a hart polls while it waits

  const LinuxContext& context_;
  const SpinLocks& locks_;
  const Scheduler& scheduler_;
  std::vector<std::vector<Task*>> waiting_;  // tasks that wait for each hart's fence
};

}  // namespace uncore
