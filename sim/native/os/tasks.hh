// The tasks of the process, by their thread ids.
//
// Invariant: a task stays where it is in memory; the first one's id is that of the process.
#pragma once

#include <memory>
#include <vector>

#include "os/task.hh"

namespace uncore {

class Tasks {
 public:
  static constexpr uint32_t kFirstTid = 1000;
  static constexpr std::size_t kMost = 32768;  // as /proc/sys/kernel/pid_max by default

  bool full() const { return all_.size() >= kMost; }
  // A task that begins as its parent is.
  Task& spawn(const Task& parent);
  // Null: no such task lives.
  Task* find(uint64_t tid) const;
  bool any_beside(const Task& task) const;

  uint32_t pid() const { return kFirstTid; }
  const std::vector<std::unique_ptr<Task>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<Task>> all_;  // in the order of their births
};

}  // namespace uncore
