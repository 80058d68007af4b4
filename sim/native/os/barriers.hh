// membarrier (K10): every hart that runs the program fences.
//
// Invariant: a task's `fences` is the number of harts on whose lists the task stands.
#pragma once

#include <vector>

#include "os/scheduler.hh"

namespace uncore {

class Barriers {
 public:
  Barriers(const LinuxSurroundings& around, const SpinLocks& locks, const Scheduler& scheduler)
      : around_(around), locks_(locks), scheduler_(scheduler), waiting_(around.agents.harts()) {}

  // Interrupts every hart that runs a task; ends when all of them have fenced.
  Work fence_all(Task& by);
  // A software interrupt on `hart`: the hart fences for the tasks that wait for that.
  Work interrupted(Flow& by, uint32_t hart);

 private:
  uint64_t line_of(uint32_t hart) const;  // the line it polls while it waits

  const LinuxSurroundings& around_;
  const SpinLocks& locks_;
  const Scheduler& scheduler_;
  std::vector<std::vector<Task*>> waiting_;  // for each hart the tasks that wait for its fence
};

}  // namespace uncore
