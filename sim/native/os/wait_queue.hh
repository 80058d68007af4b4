// Tasks that wait for something to change.
//
//     const WaitQueue::Member waits(queue, t);
//     const int64_t failed = co_await os.signals.wait(t, kNever, [&] { return count > 0; });
//
// Invariant: a task is a member as long as its Member lives.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "os/scheduler.hh"

namespace uncore {

enum : uint16_t {  // what a file is ready for, as poll(2) has it
  POLLIN = 1,
  POLLOUT = 4,
  POLLERR = 8,
  POLLHUP = 16,
  POLLNVAL = 32,
  POLLRDNORM = 0x40,
  POLLWRNORM = 0x100,
  POLLRDHUP = 0x2000,
};

class WaitQueue {
 public:
  static constexpr uint16_t kAny = 0xffff;

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

  // Is told of changes for others: an epoll, at which tasks wait.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual Work changed(Scheduler& scheduler, Flow& by, uint32_t from, uint16_t events) = 0;
  };
  // As long as the watcher lives.
  void watch(const std::shared_ptr<Watcher>& watcher) {
    std::erase_if(watchers_, [](const auto& other) { return other.expired(); });
    watchers_.push_back(watcher);
  }

  bool empty() const { return tasks_.empty() && watchers_.empty(); }
  // Something has happened on hart `from`; watchers are told what, tasks look for themselves.
  Work wake_all(Scheduler& scheduler, Flow& by, uint32_t from, uint16_t events = kAny) const {
    const std::vector<Task*> woken = tasks_;
    const std::vector<std::weak_ptr<Watcher>> told = watchers_;
    for (Task* const task : woken) co_await scheduler.wake(by, from, *task);
    for (const auto& watcher : told)
      if (const auto lives = watcher.lock()) co_await lives->changed(scheduler, by, from, events);
    co_return 0;
  }
  Work wake_all(Scheduler& scheduler, Task& by, uint16_t events = kAny) const {
    return wake_all(scheduler, by, by.hart, events);
  }

 private:
  std::vector<Task*> tasks_;
  std::vector<std::weak_ptr<Watcher>> watchers_;
};

}  // namespace uncore
