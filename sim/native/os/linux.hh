// Linux, as a program of one process sees it, with the time that it takes (section K of
// docs/model.md).
//
// Linux consists of the objects below, each with its own header. This class takes the traps and
// passes them on: a system call to the function that calls.def names for it, a fault to the memory
// or the signals, an interrupt to the barriers or the timers.
//
// Interface: it is a Supervisor (core/supervisor.hh). begin() starts the program; the engine reads
// the outcome from tasks.all() and strace. Invariant: its state can be saved like the rest of the
// run, and it changes only at events, in the order of time (K4).
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/supervisor.hh"
#include "os/barriers.hh"
#include "os/files.hh"
#include "os/futexes.hh"
#include "os/in_flight.hh"
#include "os/kernel_locks.hh"
#include "os/limits.hh"
#include "os/linux_context.hh"
#include "os/posix_timers.hh"
#include "os/scheduler.hh"
#include "os/signals.hh"
#include "os/socket.hh"
#include "os/tasks.hh"
#include "os/timers.hh"
#include "os/user_memory.hh"

namespace uncore {

// Seconds from 1970, and from the start of the system, to simulated time 0 (K11).
inline constexpr uint64_t kYear2026 = 1'767'225'600, kUptime = 86'400;

class Linux : public Supervisor {
 public:
  static constexpr uint32_t kUser = 1000;  // the program's uid and gid

  explicit Linux(const LinuxContext& linux_context);
  // Destroys unfinished calls first, because their coroutine frames refer to members of this class.
  ~Linux() override;
  Linux(const Linux&) = delete;
  Linux& operator=(const Linux&) = delete;

  // Starts the first task at the program's entry, on the first hart.
  void begin(const std::vector<Thread*>& harts);

  void trapped(Thread& thread) override;
  std::optional<Access> proceed(Thread& thread) override;
  bool mapped(uint64_t address, unsigned size) const override {
    return memory.present(address, size);
  }
  void marked(Thread& thread, unsigned code, uint64_t value) override;
  // Called when a task is created by its parent, and when a task has ended. For a program without
  // markers, these times decide which part of the run is measured (K15).
  void born(const Task& parent, Task& child);
  void died(Task& task);

  // Returns whether a program without markers has retired instructions since the last call of this
  // function, or a timer will wake it. The watchdog calls this.
  bool has_progressed();

  // Returns the bytes of host memory that the program's files and the strace output take.
  uint64_t host_bytes() const { return strace.size() + files.tree.written_bytes(); }

  // Returns the name of the system call that a task is in, or an empty string.
  static const char* call_of(const Task& task);

  LinuxContext context;
  SpinLocks locks;
  Tasks tasks;
  Timers timers;
  Scheduler scheduler;
  Barriers barriers;
  UserMemory memory;
  Signals signals;
  Futexes futexes;
  Files files;
  Addresses addresses;
  Limits limits;
  // The timers that count CPU time: ITIMER_VIRTUAL and ITIMER_PROF. They are checked when a task
  // traps.
  struct CpuTimer {
    Time due = kNever, period = 0;
  };
  std::array<CpuTimer, 2> cpu_timers;
  std::map<uint32_t, std::shared_ptr<PosixTimer>> posix_timers;  // key: number
  uint32_t next_timer = 0;
  std::set<uint64_t> missing;  // numbers of system calls made that are not implemented
  uint64_t random_bytes = 0;   // number of random bytes drawn so far (K12)
  std::string strace;
  FilesInFlight in_flight;

 private:
  void prepare(Thread& thread);
  void place_program();
  Work handle(Task& t, Fatal why);
  Work call(Task& t);
  Work fault(Task& t, Fatal why);
  Work interrupt(Flow& by, uint32_t hart, Fatal why);
  Work interrupt_idle(uint32_t hart, Fatal why);
  Work expire(Flow& by, uint32_t hart);
  Work expire_cpu_timers(Flow& by, uint32_t hart);
  void trace(const Task& t, int64_t value);

  uint64_t retired_ = 0;  // instructions retired at the last call of has_progressed()
};

}  // namespace uncore
