// Signals, as far as a process of threads sends them to itself (K13): actions, masks, handlers on
// the thread's own stack, and what happens without a handler.
//
// Interface: send() to a task, send_to_process(), force() by a fault; deliver() when the task is
// about to go on. `from` is the hart on which something happens.
#pragma once

#include <array>
#include <cstdint>

#include "os/scheduler.hh"
#include "os/tasks.hh"
#include "os/user_memory.hh"

namespace uncore {

class Signals {
 public:
  static constexpr unsigned kMost = 64;
  struct Action {  // struct sigaction of the kernel
    uint64_t handler = 0, flags = 0, mask = 0;
  };

  Signals(const LinuxSurroundings& around, const Tasks& tasks, Scheduler& scheduler,
          UserMemory& memory)
      : around_(around), tasks_(tasks), scheduler_(scheduler), memory_(memory) {}

  Work send(Flow& by, uint32_t from, Task& to, uint64_t number);
  Work send_to_process(Flow& by, uint32_t from, uint64_t number);
  // False: there is no handler.
  bool force(Task& t, unsigned number);
  bool due(const Task& t) const { return t.pending & ~t.blocked; }
  Work deliver(Task& t);
  // A task's registers and mask as they were before its handler: what a0 was.
  Work restore(Task& t);

  static constexpr uint64_t bit(uint64_t number) { return uint64_t{1} << (number - 1); }
  static uint64_t blockable(uint64_t set);
  const Action& action(uint64_t number) const { return actions_[number]; }
  void set_action(uint64_t number, const Action& action) { actions_[number] = action; }

 private:
  Work enter(Task& t, unsigned number, const Action& action);

  const LinuxSurroundings& around_;
  const Tasks& tasks_;
  Scheduler& scheduler_;
  UserMemory& memory_;
  std::array<Action, kMost + 1> actions_{};  // by number
};

}  // namespace uncore
