// The scheduler: decides which task a hart runs, and when it runs another (K5 to K8).
//
// Interface: start() a new task, wake() a sleeping one; a task itself calls sleep(), yield() and
// retire(); move() it after a change of its affinity. A hart without a task runs schedule(): it
// takes a task, or idles until an interrupt. `from` is the hart that executes the action.
//
// Invariant: a task is the current task of a hart from install() to deschedule().
#pragma once

#include <vector>

#include "os/linux_context.hh"
#include "os/run_queues.hh"
#include "os/timers.hh"

namespace uncore {

class Scheduler {
 public:
  Scheduler(const LinuxContext& context, const SpinLocks& locks, Timers& timers)
      : context_(context),
        timers_(timers),
        queues_(context.agents.harts(), locks),
        cpus_(context.agents.harts()) {
    for (uint32_t hart = 0; hart < cpus_.size(); ++hart) cpus_[hart].flow.hart = hart;
  }

  Task* current(uint32_t hart) const { return queues_.current(hart); }
  // Returns the flow that a hart in the kernel executes: that of its task, or, without a task, its
  // own.
  Flow& flow(uint32_t hart) { return current(hart) ? *current(hart) : cpus_[hart].flow; }
  void install(uint32_t hart, Task& task);
  Work schedule(uint32_t hart);
  // Records that an idle hart has been interrupted, and so will look for a task.
  void interrupted(uint32_t hart) { queues_.set_idle(hart, false); }

  Work start(Task& by, Task& task);
  Work wake(Flow& by, uint32_t from, Task& task);
  // Puts the task to sleep; completes when it is woken. Returns 1 if its timer, set to `until`, has
  // woken it.
  Work sleep(Task& task, Time until);
  Work yield(Task& task);
  Work retire(Task& task);
  // Moves the task to a hart on which it may run, if it is not on such a hart.
  Work move(Task& by, Task& task);
  // Changes the task's policy and priority.
  Work change(Task& by, Task& task, uint32_t policy, uint32_t priority);
  // Moves the task to another hart, or lets another task run, if either is due. Called before the
  // task returns to the program.
  Work resume(Task& task);

  // Returns whether a task waits while a hart that may run it idles, which violates K6.1.
  bool waits_in_vain() const { return queues_.waits_in_vain(); }

  // Drops the unfinished kernel work of harts without a task, when the run ends.
  void abandon() {
    for (Cpu& cpu : cpus_) cpu.flow.abandon();
  }

  // Sets the hart's timer to the earliest time at which a timer or the time slice is due.
  void set_timer(uint32_t hart);

 private:
  struct Cpu {
    Flow flow;  // the hart's kernel work while it has no task
    Time slice_ends = kNever;
    uint32_t slice_policy = Task::kOther;  // the policy for which the slice was set
  };

  void deschedule(Task& task, Task::State state);
  void give_slice(const Task& task);
  void idle(uint32_t hart);
  // Removes the task from its hart. The hart then puts it on the queue of hart `to`, and chooses
  // another task to run.
  Work leave(Task& task, uint32_t to, RunQueues::Place place);
  Work hand_over(uint32_t from, uint32_t to, Task& task, RunQueues::Place place);
  Work migrate(Task& task);

  const LinuxContext& context_;
  Timers& timers_;
  RunQueues queues_;
  std::vector<Cpu> cpus_;
};

}  // namespace uncore
