// A queue of tasks that wait for a change, such as new data in a pipe. A change wakes all of them,
// but of the exclusive waiters only the first, because only one of them could use it.
//
//     const WaitQueue::Member waits(queue, t);
//     const int64_t failed = co_await os.signals.wait(t, kNever, [&] { return count > 0; });
//
// Invariant: a task is in the queue as long as its Member object exists.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "os/scheduler.hh"

namespace uncore {

enum : uint16_t {  // events of poll(2)
  POLLIN = 1,
  POLLOUT = 4,
  POLLERR = 8,
  POLLHUP = 16,
  POLLNVAL = 32,
  POLLRDNORM = 0x40,
  POLLWRNORM = 0x100,
  POLLWRBAND = 0x200,
  POLLRDHUP = 0x2000,
};

class WaitQueue {
 public:
  static constexpr uint16_t kAny = 0xffff;

  class Member {
   public:
    Member(WaitQueue& queue, Task& task, bool exclusive = false) : queue_(queue), task_(task) {
      (exclusive ? queue_.exclusive_ : queue_.tasks_).push_back(&task_);
    }
    ~Member() {
      if (const auto position = std::ranges::find(queue_.tasks_, &task_);
          position != queue_.tasks_.end())
        queue_.tasks_.erase(position);
      else
        queue_.exclusive_.erase(std::ranges::find(queue_.exclusive_, &task_));
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    WaitQueue& queue_;
    Task& task_;
  };

  // Receives changes on behalf of tasks that wait elsewhere. An example is the item of an epoll.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    // Called at a change. Returns 1 if it has woken a task.
    virtual Work changed(Scheduler& scheduler, Flow& by, uint32_t from, uint16_t events) = 0;
    virtual bool is_exclusive() const { return false; }
  };
  // Adds a watcher, which stays until it is destroyed.
  void watch(const std::shared_ptr<Watcher>& watcher) {
    std::erase_if(watchers_, [](const auto& other) { return other.expired(); });
    watchers_.push_back(watcher);
  }
  std::vector<std::shared_ptr<Watcher>> watchers() const {
    std::vector<std::shared_ptr<Watcher>> living;
    for (const auto& watcher : watchers_)
      if (auto lives = watcher.lock()) living.push_back(std::move(lives));
    return living;
  }

  bool empty() const { return tasks_.empty() && exclusive_.empty() && watchers_.empty(); }
  // Wakes tasks and passes the events to watchers, after a change on hart `from`. A woken task
  // checks by itself whether it can continue. Returns 1 if an exclusive task was woken.
  Work wake_all(Scheduler& scheduler, Flow& by, uint32_t from, uint16_t events = kAny) const {
    const std::vector<Task*> woken = tasks_;
    const std::vector<std::weak_ptr<Watcher>> watchers = watchers_;
    for (Task* const task : woken) co_await scheduler.wake(by, from, *task);
    const int64_t woken_exclusive = co_await wake_one(scheduler, by, from);
    const bool enough = events == POLLIN || events == POLLOUT;  // one exclusive watcher suffices
    for (const bool exclusive : {false, true})
      for (const auto& watcher : watchers) {
        const auto lives = watcher.lock();
        if (!lives || lives->is_exclusive() != exclusive) continue;
        const int64_t heard = co_await lives->changed(scheduler, by, from, events);
        if (exclusive && heard && enough) break;
      }
    co_return woken_exclusive;
  }
  // Wakes one exclusive task that sleeps. Returns 1 if there was one, else 0.
  Work wake_one(Scheduler& scheduler, Flow& by, uint32_t from) const {
    const auto sleeps = [](const Task* t) { return t->state == Task::State::sleeping; };
    const auto first = std::ranges::find_if(exclusive_, sleeps);
    if (first == exclusive_.end()) co_return 0;
    co_await scheduler.wake(by, from, **first);
    co_return 1;
  }
  Work wake_all(Scheduler& scheduler, Task& by, uint16_t events = kAny) const {
    return wake_all(scheduler, by, by.hart, events);
  }

 private:
  std::vector<Task*> tasks_, exclusive_;
  std::vector<std::weak_ptr<Watcher>> watchers_;
};

}  // namespace uncore
