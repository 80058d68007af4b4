// Tasks that can run: a queue for each hart, under a lock of its own (K5, K6).
//
// Interface: select_hart() for a task; add() it there; a hart takes the first of its own queue, or
// the task that steal_from() names. set_current() says what a hart runs.
//
// Invariant: a task is on one queue at most, that of its `hart`, and on none while it is a hart's
// current one.
#pragma once

#include <deque>
#include <vector>

#include "os/kernel_locks.hh"
#include "os/task.hh"

namespace uncore {

class RunQueues {
 public:
  RunQueues(std::size_t harts, const SpinLocks& locks) : queues_(harts), locks_(locks) {}

  Task* current(uint32_t hart) const { return queues_[hart].current; }
  void set_current(uint32_t hart, Task* task) { queues_[hart].current = task; }
  bool empty(uint32_t hart) const { return queues_[hart].tasks.empty(); }
  // How many tasks run on the hart, or are to: queued, or being added.
  std::size_t load(uint32_t hart) const;
  uint32_t select_hart(const Task& task) const;
  // The task that a hart without any takes from another's queue.
  const Task* steal_for(uint32_t hart) const;

  Work add(Flow& by, uint32_t hart, Task& task);
  // Puts the task that runs on a hart behind the others of that hart's queue.
  Work put_back(Task& task);
  // Takes the first task of the hart's queue, or `which`. `taken` is null if it is there no longer.
  Work take(Flow& by, uint32_t hart, const Task* which, Task*& taken);
  // Takes a task off its hart's queue. 1: it was there.
  Work remove(Flow& by, Task& task);

 private:
  struct Queue {
    std::deque<Task*> tasks;
    Task* current = nullptr;  // null: the hart looks for a task, or idles
    uint32_t coming = 0;      // tasks that are being added
  };

  std::vector<Queue> queues_;
  const SpinLocks& locks_;
};

}  // namespace uncore
