// membarrier (K10): every hart that runs the program fences.
//
// Invariant: a task's `fences` is how often it is on the lists of harts.
#pragma once

#include <vector>

#include "os/scheduler.hh"

namespace uncore {

class Barriers {
 public:
  Barriers(const LinuxSurroundings& around, const SpinLocks& locks, const Scheduler& scheduler)
      : around_(around), locks_(locks), scheduler_(scheduler), waiting_(around.agents.harts()) {}

  // Ends when every hart that runs a task has fenced.
  Work fence_all(Task& by);
  // A software interrupt: the hart fences for the tasks that wait for it.
  Work interrupted(Flow& by, uint32_t hart);

 private:
  const LinuxSurroundings& around_;
  const SpinLocks& locks_;
  const Scheduler& scheduler_;
  std::vector<std::vector<Task*>> waiting_;  // for which hart
};

}  // namespace uncore
