// Tasks that can run: a queue for each hart, under a lock of its own (K5, K6).
//
// Interface: assign() a task to a hart and add() it there; a hart choose()s the task to run next
// and take()s it off its queue; set_current() records the task that a hart runs, set_idle() that it
// runs none.
//
// Invariant: a task that can run counts on one hart from the moment it is assigned: while it is
// added, while it is on the queue of its `hart`, from the moment another hart has chosen it, and
// while it is a hart's current one. No task waits behind another while a hart that may run it idles
// (K6.1). A queue is in the order of priorities (K7.1).
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
  // Null: the hart looks for a task, or idles.
  void set_current(uint32_t hart, Task* task) {
    Queue& q = queues_[hart];
    q.current = task, q.chosen = nullptr;
    if (task) q.idles = false;
  }
  // Sets whether the hart is idle: it then looks for tasks when it is interrupted.
  void set_idle(uint32_t hart, bool idles) { queues_[hart].idles = idles; }
  bool empty(uint32_t hart) const { return queues_[hart].tasks.empty(); }
  // Is the first task on the hart's queue more urgent than this one, which runs there, or at least
  // as urgent?
  bool outranks(const Task& task) const {
    return !empty(task.hart) && queues_[task.hart].tasks.front()->priority > task.priority;
  }
  bool takes_turns(const Task& task) const {
    return !empty(task.hart) && queues_[task.hart].tasks.front()->priority >= task.priority;
  }

  // Selects a hart for the task, which counts there from now on. The caller must add() it.
  uint32_t assign(const Task& task);
  // Counts a task on this hart, to which the caller must add() it.
  void expect(uint32_t hart) { ++queues_[hart].coming; }
  // Puts the task on the hart's queue, behind or before the others of its priority, and interrupts
  // the hart that must look at its queue for it. `from`: the hart that does this.
  enum class Place : uint8_t { behind, before };
  Work add(Flow& by, uint32_t from, uint32_t hart, Task& task, Place place = Place::behind);
  // Chooses the task that the hart runs next, which counts there from now on. Null: none.
  Task* choose(uint32_t hart);
  // Takes the task that the hart has chosen off its queue.
  Work take(Flow& by, uint32_t hart);
  // Moves tasks that wait on this queue to idle harts, and interrupts these.
  Work spread(Flow& by, uint32_t from, uint32_t hart);
  // Changes the policy and priority of a task that can run, and adds it anew, maybe to another
  // queue. Returns 1 if it was on a queue; else a hart has chosen it, or it is just being added.
  Work requeue(Flow& by, uint32_t from, Task& task, uint32_t policy, uint32_t priority);

  // Returns a task that waits behind another while a hart that may run it idles; null: there is
  // none, as K6.1 demands.
  const Task* waits_in_vain() const;

 private:
  struct Queue {
    std::deque<Task*> tasks;
    Task* current = nullptr;
    Task* chosen = nullptr;  // being taken off its queue, runs next
    uint32_t coming = 0;     // tasks that are being added
    bool idles = true;

    const Task* runs() const { return current ? current : chosen; }
    bool rests() const { return idles && tasks.empty() && !coming; }
    // Index of the first of its tasks that waits behind another.
    std::size_t first_waiting() const { return runs() ? 0 : 1; }
    std::size_t load() const { return tasks.size() + coming + (runs() != nullptr); }
    void insert(Task& task, Place place);
    // Number of tasks here, the running one too, with at least this priority.
    std::size_t from(uint32_t priority) const;
  };

  static uint64_t line(uint32_t hart) { return kernel_lines::queue(hart); }
  uint32_t select_hart(const Task& task) const;
  // Returns the task that a hart takes from another's queue, because its own is empty or because
  // that task is more urgent.
  Task* steal_for(uint32_t hart) const;
  // Returns the nearest hart that idles and may run the task.
  std::optional<uint32_t> resting_for(const Task& task) const;
  // Moves tasks that wait on this queue to idle harts, and returns these harts.
  std::vector<uint32_t> move_to_idle(uint32_t hart);

  std::vector<Queue> queues_;
  const SpinLocks& locks_;
};

}  // namespace uncore
