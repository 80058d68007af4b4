// The signals that the threads of a process send to each other, and those raised by faults (K12.1,
// K13): their actions, masks and handlers.
//
// Interface: send() to a task, send_to_process(), force() for a fault; wait() until a condition
// holds or a signal is due; deliver() before a task returns to the program. `from` is the hart on
// which the sender runs.
//
// Invariant: a signal to the process belongs to no task until a task that does not block it takes
// it.
#pragma once

#include <array>
#include <cstdint>

#include "os/pending_signals.hh"
#include "os/scheduler.hh"
#include "os/tasks.hh"
#include "os/uapi.hh"
#include "os/user_memory.hh"
#include "os/wait_queue.hh"

namespace uncore {

class Signals {
 public:
  static constexpr unsigned kMaxSignal = 64;
  struct Action {  // struct sigaction of the kernel
    uint64_t handler = SIG_DFL, flags = 0, mask = 0;
  };

  Signals(const LinuxContext& context, const Tasks& tasks, Scheduler& scheduler, UserMemory& memory)
      : context_(context), tasks_(tasks), scheduler_(scheduler), memory_(memory) {}

  Work send(Flow& by, uint32_t from, Task& to, SignalInfo info);
  Work send_to_process(Flow& by, uint32_t from, SignalInfo info);
  // Makes the task handle a fault's signal at once. Returns -1 if the signal has no handler, or if
  // the task blocks it.
  Work force(Task& t, SignalInfo info);

  // Returns whether a signal is due: pending and not blocked (Linux's TIF_SIGPENDING).
  bool due(const Task& t) const { return pending(t) & ~t.blocked; }
  // Delivers all signals that are due. If several have handlers, the handler of the last one runs
  // first.
  Work deliver(Task& t);
  // The tasks that wait for a signalfd to become readable.
  WaitQueue watched;
  // Takes a pending signal of the set; there must be one.
  SignalInfo take(Task& t, uint64_t set);
  // Waits for a signal of the set and takes it without running its handler. Returns 0, or an error
  // as wait() does.
  Work await(Task& t, uint64_t set, Time until, SignalInfo& info);
  // Performs rt_sigreturn: restores the registers and the mask that the task had before the
  // handler. Returns the restored a0.
  Work restore(Task& t);
  // Sleeps until done(). Returns 0, -ETIMEDOUT, or -ERESTARTSYS if a signal is due. No simulated
  // time passes between the tests of these conditions and the task's falling asleep, so no wake-up
  // is lost. The task tests them again whenever it wakes, so a spurious wake-up does no harm.
  template <class Done>
  Work wait(Task& t, Time until, Done done) {
    for (bool over = false;;) {
      if (done()) co_return 0;
      if (over) co_return -ETIMEDOUT;
      if (due(t)) co_return -ERESTARTSYS;
      over = co_await scheduler_.sleep(t, until);
    }
  }

  static uint64_t blockable(uint64_t set);
  uint64_t pending(const Task& t) const { return t.pending.set() | shared_.set(); }
  // Replaces the task's signal mask during a call, as in ppoll and rt_sigsuspend. restore_mask()
  // restores the former mask; if a handler interrupts the call, rt_sigreturn does so.
  void mask_in_call(Task& t, uint64_t set);
  void restore_mask(Task& t);
  // Sets the task's mask. If it blocks signals that are pending for the process, notifies another
  // task of them.
  Work block(Task& t, uint64_t set);
  const Action& action(uint64_t number) const { return actions_[number]; }
  void set_action(uint64_t number, const Action& action);

 private:
  bool ignores(unsigned number) const;
  Work notify(Flow& by, uint32_t from, Task& to);
  Work notify_any(Flow& by, uint32_t from, uint64_t set);
  Work enter(Task& t, SignalInfo info, Action action);

  const LinuxContext& context_;
  const Tasks& tasks_;
  Scheduler& scheduler_;
  UserMemory& memory_;
  std::array<Action, kMaxSignal + 1> actions_{};  // actions_[number]
  PendingSignals shared_;                         // signals sent to the process
};

}  // namespace uncore
