// The scheduler: decides which task a hart runs, and when it runs another (K5 to K8).
//
// Interface: start() a task, wake() one that sleeps; sleep(), yield(), retire() by the task itself;
// move() after its affinity has changed. A hart without a task runs schedule(): it takes one, or
// idles until an interrupt. `from` is the hart on which something happens.
//
// Invariant: a task is a hart's current one from install() to deschedule().
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
  // Returns the flow of a hart in the kernel: that of its task, else the hart's own.
  Flow& flow(uint32_t hart) { return current(hart) ? *current(hart) : cpus_[hart].flow; }
  void install(uint32_t hart, Task& task);
  Work schedule(uint32_t hart);
  // Notes that an idle hart has been interrupted, and will look for a task.
  void interrupted(uint32_t hart) { queues_.set_idle(hart, false); }

  Work start(Task& by, Task& task);
  Work wake(Flow& by, uint32_t from, Task& task);
  // Ends when the task is woken. Returns 1 if its timer, at `until`, has woken it.
  Work sleep(Task& task, Time until);
  Work yield(Task& task);
  Work retire(Task& task);
  // Moves the task to a hart that it may run on.
  Work move(Task& by, Task& task);
  // Changes the task's policy and priority.
  Work change(Task& by, Task& task, uint32_t policy, uint32_t priority);
  // Moves the task to another hart, or lets the next task run, if either is due. Called before the
  // task goes back to the program.
  Work resume(Task& task);

  // True if a task waits while a hart that may run it idles, in violation of K6.1.
  bool waits_in_vain() const { return queues_.waits_in_vain(); }

  // Drops the kernel work of harts without a task, when the run ends.
  void abandon() {
    for (Cpu& cpu : cpus_) cpu.flow.abandon();
  }

  // Sets the hart's timer to the time at which something is due first.
  void set_timer(uint32_t hart);

 private:
  struct Cpu {
    Flow flow;  // the hart's work without a task
    Time slice_ends = kNever;
    uint32_t slice_policy = Task::kOther;  // the policy for which the slice was set
  };

  void deschedule(Task& task, Task::State state);
  void give_slice(const Task& task);
  void idle(uint32_t hart);
  // Takes the task off its hart, which hands it to the queue of `to` and then looks for another.
  Work leave(Task& task, uint32_t to, RunQueues::Place place);
  Work hand_over(uint32_t from, uint32_t to, Task& task, RunQueues::Place place);
  Work migrate(Task& task);

  const LinuxContext& context_;
  Timers& timers_;
  RunQueues queues_;
  std::vector<Cpu> cpus_;
};

}  // namespace uncore
