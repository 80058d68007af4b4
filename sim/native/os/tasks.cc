#include "os/tasks.hh"

namespace uncore {

Task& Tasks::spawn(const Task& parent) {
  Task& task = make();
  const uint32_t number = free_tid();
  by_tid_[number] = &task;
  task.tid = kFirstTid + number;
  task.allowed = parent.allowed;
  task.blocked = parent.blocked;
  task.name = parent.name;
  task.hart = parent.hart;
  if (!parent.resets_on_fork) {
    task.policy = parent.policy, task.priority = parent.priority, task.nice = parent.nice;
  }
  ++alive_, ++tids_;
  return task;
}

// Allocates a task. Once there have been kMaxTasks tasks, reuses the memory of one that has ended.
Task& Tasks::make() {
  if (all_.size() < kMaxTasks || dead_.empty()) return *all_.emplace_back(std::make_unique<Task>());
  Task* const task = dead_.front();
  dead_.pop_front();
  ran_ += task->ran;
  std::destroy_at(task);
  return *std::construct_at(task);
}

uint32_t Tasks::free_tid() {
  if (by_tid_.size() < kMaxTasks) {
    by_tid_.push_back(nullptr);
    return static_cast<uint32_t>(by_tid_.size() - 1);
  }
  while (by_tid_[next_]) next_ = (next_ + 1) % kMaxTasks;
  const uint32_t number = next_;
  next_ = (next_ + 1) % kMaxTasks;
  return number;
}

void Tasks::release(Task& task) {
  --alive_;
  if (&task == all_.front().get()) return;
  by_tid_[task.tid - kFirstTid] = nullptr;
  --tids_;
  if (task.operations == 0) dead_.push_back(&task);
}

Time Tasks::cpu_time(Time now) const {
  Time all = ran_;
  for (const auto& task : all_) all += task->cpu_time(now);
  return all;
}

Task* Tasks::find(uint64_t tid) const {
  const uint64_t number = tid - kFirstTid;
  if (number >= by_tid_.size() || !by_tid_[number]) return nullptr;
  return by_tid_[number]->state == Task::State::dead ? nullptr : by_tid_[number];
}

}  // namespace uncore
