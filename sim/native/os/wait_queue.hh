// Tasks that wait for something to change.
//
//     const WaitQueue::Member waits(queue, t);
//     const int64_t failed = co_await os.signals.wait(t, kNever, [&] { return count > 0; });
//
// Invariant: a task is a member as long as its Member lives.
#pragma once

#include <algorithm>
#include <vector>

#include "os/scheduler.hh"

namespace uncore {

class WaitQueue {
 public:
  class Member {
   public:
    Member(WaitQueue& queue, Task& task) : queue_(queue), task_(task) {
      queue_.tasks_.push_back(&task_);
    }
    ~Member() { queue_.tasks_.erase(std::ranges::find(queue_.tasks_, &task_)); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    WaitQueue& queue_;
    Task& task_;
  };

  Work wake_all(Scheduler& scheduler, Task& by) const {
    const std::vector<Task*> woken = tasks_;
    for (Task* const task : woken) co_await scheduler.wake(by, by.hart, *task);
    co_return 0;
  }

 private:
  std::vector<Task*> tasks_;
};

}  // namespace uncore
