// The runnable tasks: each hart has a queue with a lock of its own (K5, K6).
//
// Interface: assign() selects a hart for a task, and add() puts it on the hart's queue. A hart
// calls choose() for the task to run next, and take() to take it off its queue. set_current()
// records which task a hart runs, set_idle() that it runs none.
//
// Invariant: from the moment it is assigned, a runnable task counts towards the load of exactly one
// hart: the hart to which it is being added, or on whose queue it is, or which has chosen it, or
// whose current task it is. No task waits for its turn while a hart that may run it idles (K6.1).
// A queue is sorted by priority (K7.1).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "os/kernel_locks.hh"
#include "os/task.hh"

namespace uncore {

class RunQueues {
 public:
  RunQueues(std::size_t harts, const SpinLocks& locks) : queues_(harts), locks_(locks) {}

  Task* current(uint32_t hart) const { return queues_[hart].current; }
  // Records the task that the hart runs; null if it is looking for a task or is idle.
  void set_current(uint32_t hart, Task* task) {
    Queue& q = queues_[hart];
    q.current = task, q.chosen = nullptr;
    if (task) q.idles = false;
  }
  // Records whether the hart is idle. An idle hart looks for tasks when it is interrupted.
  void set_idle(uint32_t hart, bool idles) { queues_[hart].idles = idles; }
  bool empty(uint32_t hart) const { return queues_[hart].tasks.empty(); }
  // Compare the first task on the queue of `task`'s hart with `task`, which runs there:
  // is_outranked() returns whether the queued task has a higher priority, has_ready_peer() whether
  // its priority is at least the same.
  bool is_outranked(const Task& task) const {
    return !empty(task.hart) && queues_[task.hart].tasks.front()->priority > task.priority;
  }
  bool has_ready_peer(const Task& task) const {
    return !empty(task.hart) && queues_[task.hart].tasks.front()->priority >= task.priority;
  }

  // Selects a hart for the task, and counts the task towards that hart's load. The caller must then
  // add() it.
  uint32_t assign(const Task& task);
  // Counts one more task towards this hart's load. The caller must add() the task.
  void expect(uint32_t hart) { ++queues_[hart].arriving; }
  // Puts the task on the hart's queue, after or before the others of its priority. Interrupts the
  // hart if the task should run there now. `from` is the hart that executes this.
  enum class Place : uint8_t { after, before };
  Work add(Flow& by, uint32_t from, uint32_t hart, Task& task, Place place = Place::after);
  // Chooses the task that the hart runs next, removes it from its queue, and counts it towards this
  // hart's load. Returns null if there is none.
  Task* choose(uint32_t hart);
  // Locks and unlocks the queue from which choose() has taken the task, for the time that this
  // takes.
  Work take(Flow& by, uint32_t hart);
  // Moves tasks that wait on this queue to idle harts, and interrupts these.
  Work spread(Flow& by, uint32_t from, uint32_t hart);
  // Changes the policy and priority of a runnable task, and adds it again, perhaps on another hart.
  // Returns 1 if it was on a queue, and 0 if a hart has chosen it or it is just being added.
  Work requeue(Flow& by, uint32_t from, Task& task, uint32_t policy, uint32_t priority);

  // Returns a task that waits for its turn while a hart that may run it idles, or null. K6.1
  // demands that there is none.
  const Task* waits_in_vain() const;

 private:
  struct Queue {
    std::deque<Task*> tasks;
    Task* current = nullptr;
    Task* chosen = nullptr;  // the task that runs next; it is being taken off its queue
    uint32_t arriving = 0;   // number of tasks that are being added
    bool idles = true;

    const Task* runs() const { return current ? current : chosen; }
    bool is_idle() const { return idles && tasks.empty() && !arriving; }
    // Returns the index of the first task here that waits for its turn.
    std::size_t first_waiting() const { return runs() ? 0 : 1; }
    std::size_t load() const { return tasks.size() + arriving + (runs() != nullptr); }
    void insert(Task& task, Place place);
    // Returns the number of tasks with at least this priority, including the one that runs.
    std::size_t count_from(uint32_t priority) const;
  };

  static uint64_t line(uint32_t hart) { return kernel_lines::queue(hart); }
  uint32_t select_hart(const Task& task) const;
  // Returns a task that the hart should take from another hart's queue, because its own queue is
  // empty or because that task is more urgent.
  Task* steal_for(uint32_t hart) const;
  // Returns the nearest idle hart that may run the task.
  std::optional<uint32_t> idle_hart_for(const Task& task) const;
  // Moves tasks that wait on this queue to idle harts, and returns these harts.
  std::vector<uint32_t> move_to_idle(uint32_t hart);

  std::vector<Queue> queues_;
  const SpinLocks& locks_;
};

}  // namespace uncore
