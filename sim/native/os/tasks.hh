// The tasks of the process, by thread id.
//
// Interface: spawn() and release() a task, find() one by its id. Invariant: a task's memory is
// never freed, only reused for another task. So a late wake-up of a task that has ended wakes at
// worst another task, which checks its condition and sleeps again. The first task's id is also the
// process id.
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
  // Creates a task with its parent's affinity, signal mask and hart. The caller must have checked
  // full().
  Task& spawn(const Task& parent);
  // Ends a task. Its id may then be given to another one, unless it is the process id.
  void release(Task& task);
  // Returns the live task with this id, or null.
  Task* find(uint64_t tid) const;
  Task& first() const { return *all_.front(); }
  std::size_t alive() const { return alive_; }

  uint32_t pid() const { return kFirstTid; }
  // Returns the CPU time of all tasks together, including those that have ended.
  Time cpu_time(Time now) const;
  const std::vector<std::unique_ptr<Task>>& all() const { return all_; }

 private:
  Task& make();
  uint32_t free_tid();

  std::vector<std::unique_ptr<Task>> all_;  // tasks in the order of creation
  std::vector<Task*> by_tid_;               // index: id - kFirstTid; null: the id is free
  std::deque<Task*> dead_;                  // ended tasks to reuse, whose markers counted nothing
  std::size_t alive_ = 0, tids_ = 0;        // number of live tasks; number of ids in use
  Time ran_ = 0;                            // CPU time of tasks whose memory has been reused
  uint32_t next_ = 0;                       // start of the cyclic search for a free id
};

}  // namespace uncore
