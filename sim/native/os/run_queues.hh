// Tasks that can run: a queue for each hart, under a lock of its own (K5, K6).
//
// Interface: select_hart() for a task; add() it there; a hart takes the first of its own queue, or
// the task that steal_from() names. set_current() says what a hart runs.
//
// Invariant: a task is on one queue at most, that of its `hart`, and on none while it is a hart's
// current one; a queue is in the order of priorities (K7.1).
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
  // Is one on the queue of the hart that runs this task more urgent, or next to it in turn?
  bool outranks(const Task& task) const {
    return !empty(task.hart) && queues_[task.hart].tasks.front()->priority > task.priority;
  }
  bool takes_turns(const Task& task) const {
    return !empty(task.hart) && queues_[task.hart].tasks.front()->priority >= task.priority;
  }
  // How many tasks run on the hart, or are to: queued, or being added.
  std::size_t load(uint32_t hart) const;
  uint32_t select_hart(const Task& task) const;
  // The task that a hart takes from another's queue: without any of its own, or for a more urgent.
  const Task* steal_for(uint32_t hart) const;

  Work add(Flow& by, uint32_t hart, Task& task);
  // Puts the task that runs on a hart behind the others of its priority on that hart's queue, or
  // before them.
  enum class Place : uint8_t { behind, before };
  Work put_back(Task& task, Place place);
  // Takes the first task of the hart's queue, or `which`. `taken` is null if it is there no longer.
  Work take(Flow& by, uint32_t hart, const Task* which, Task*& taken);
  // Takes a task off its hart's queue. 1: it was there.
  Work remove(Flow& by, Task& task);

 private:
  struct Queue {
    std::deque<Task*> tasks;
    Task* current = nullptr;  // null: the hart looks for a task, or idles
    uint32_t coming = 0;      // tasks that are being added

    void insert(Task& task, Place place);
    // How many tasks that are here have a priority from this one on.
    std::size_t from(uint32_t priority) const;
  };

  std::vector<Queue> queues_;
  const SpinLocks& locks_;
};

}  // namespace uncore
