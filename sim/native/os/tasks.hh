// The tasks of the process, by their thread ids.
//
// Invariant: a task stays where it is in memory, and what was a task is always one: who wakes a
// task that has ended meanwhile wakes at worst another one, which then looks why. The first one's
// id is that of the process.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "os/task.hh"

namespace uncore {

class Tasks {
 public:
  static constexpr uint32_t kFirstTid = 1000;
  static constexpr std::size_t kMost = 32768;  // as /proc/sys/kernel/pid_max by default

  bool full() const { return tids_ >= kMost; }
  // A task that begins as its parent is. There is room for it.
  Task& spawn(const Task& parent);
  // The task ends, and its id may be given to another. The first one's is kept: it is the
  // process's.
  void release(Task& task);
  // Null: no such task lives.
  Task* find(uint64_t tid) const;
  Task& first() const { return *all_.front(); }
  std::size_t alive() const { return alive_; }

  uint32_t pid() const { return kFirstTid; }
  const std::vector<std::unique_ptr<Task>>& all() const { return all_; }

 private:
  Task& make();
  uint32_t free_tid();

  std::vector<std::unique_ptr<Task>> all_;  // in the order of their births
  std::vector<Task*> by_tid_;               // from kFirstTid on; null: free
  std::deque<Task*> dead_;                  // nothing is remembered of these
  std::size_t alive_ = 0, tids_ = 0;        // of these so many are not free
  uint32_t next_ = 0;                       // tid, from kFirstTid on, as in a circle
};

}  // namespace uncore
