// The tasks of the process, by their thread ids.
//
// Interface: spawn() and release() a task, find() one by its id. Invariant: a task's memory is
// never freed, only reused for another task. So a wake-up of a task that has ended meanwhile wakes
// at worst another one, which checks its condition and sleeps again. The first task's id is that of
// the process.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "os/proc_files.hh"
#include "os/task.hh"

namespace uncore {

class Tasks {
 public:
  static constexpr uint32_t kFirstTid = kOwnProcess;
  static constexpr std::size_t kMaxTasks = 32768;  // the default of /proc/sys/kernel/pid_max

  bool full() const { return tids_ >= kMaxTasks; }
  // Makes a task with its parent's affinity, mask and hart. The caller has checked full().
  Task& spawn(const Task& parent);
  // Ends a task. Its id may be given to another one, unless it is the process's.
  void release(Task& task);
  // Returns null if no such task lives.
  Task* find(uint64_t tid) const;
  Task& first() const { return *all_.front(); }
  std::size_t alive() const { return alive_; }

  uint32_t pid() const { return kFirstTid; }
  // Time that all tasks, including those that have ended, have been on harts.
  Time on_harts(Time now) const;
  const std::vector<std::unique_ptr<Task>>& all() const { return all_; }

 private:
  Task& make();
  uint32_t free_tid();

  std::vector<std::unique_ptr<Task>> all_;  // tasks in the order of their births
  std::vector<Task*> by_tid_;               // task of id kFirstTid + index; null: the id is free
  std::deque<Task*> dead_;                  // reusable tasks, whose markers have counted nothing
  std::size_t alive_ = 0, tids_ = 0;        // tasks that live; ids in use
  Time ran_ = 0;                            // time on harts of tasks whose memory was reused
  uint32_t next_ = 0;                       // the cyclic search for a free id begins here
};

}  // namespace uncore
