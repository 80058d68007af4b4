#include "os/tasks.hh"

#include <algorithm>

namespace uncore {

Task& Tasks::spawn(const Task& parent) {
  Task& task = *all_.emplace_back(std::make_unique<Task>());
  task.tid = static_cast<uint32_t>(kFirstTid + all_.size() - 1);
  task.allowed = parent.allowed;
  task.blocked = parent.blocked;
  task.hart = parent.hart;
  return task;
}

Task* Tasks::find(uint64_t tid) const {
  const uint64_t number = tid - kFirstTid;
  if (number >= all_.size() || all_[number]->state == Task::State::dead) return nullptr;
  return all_[number].get();
}

bool Tasks::any_beside(const Task& task) const {
  return std::ranges::any_of(all_, [&](const auto& other) {
    return other.get() != &task && other->state != Task::State::dead;
  });
}

}  // namespace uncore
