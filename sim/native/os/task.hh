// A task: one thread of the program, as Linux sees it.
//
// Invariant: a task's registers are in the hart while it is `running`, and in the task otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/core.hh"
#include "os/pending_signals.hh"
#include "os/work.hh"

namespace uncore {

inline constexpr uint64_t kEcallBytes = 4;     // size of an ecall, after which a call returns
inline constexpr unsigned kThreadPointer = 4;  // tp

struct Registers {
  uint64_t x[kRegisters] = {};
  uint64_t pc = 0;
  uint64_t fcsr = 0;
};

struct Task : Flow {
  enum class State : uint8_t { ready, running, sleeping, dead };
  static constexpr uint64_t kNoCall = ~uint64_t{0};

  uint32_t tid = 0;
  State state = State::ready;
  Thread* thread = nullptr;  // the hart on which it runs; null while it does not run
  Registers registers;
  std::vector<bool> allowed;  // its affinity: for each hart, whether it may run there

  // These fields are used while the task waits.
  Time until = kNever;      // time at which its timer wakes it
  bool timed_out = false;   // its timer has woken it
  uint64_t waits_on = 0;    // address of the futex that it waits for; 0: none (K9)
  uint32_t futex_bits = 0;  // its bit set for FUTEX_WAKE_BITSET
  uint32_t fences = 0;      // number of harts that have yet to fence for its membarrier (K10)

  // The scheduling policy and priority (K7.1), set by sched_setscheduler. Only SCHED_FIFO and
  // SCHED_RR have a priority other than 0.
  static constexpr uint32_t kOther = 0, kFifo = 1;
  uint32_t policy = 0, priority = 0;
  bool resets_on_fork = false;  // SCHED_RESET_ON_FORK
  int32_t nice = 0;             // set by setpriority; has no effect

  uint64_t clear_tid = 0, robust_list = 0;  // addresses set by set_tid_address and set_robust_list
  uint64_t blocked = 0, awaited = 0;   // sets of signals: blocked; waited for by rt_sigtimedwait
  std::optional<uint64_t> mask_after;  // signal mask to restore when the present call has ended
  PendingSignals pending;
  std::array<uint64_t, 2> other_stack{};  // alternate signal stack: address, size

  // The task's current or last system call.
  uint64_t call = 0, called_at = 0;  // the call's number; the pc of its ecall
  std::array<uint64_t, 6> args{};    // the call's a0 to a5
  Time called = 0;                   // when the call began
  bool restarts = false;             // the call has just returned -ERESTARTSYS

  // The number of operations that its markers have counted, and when its measured part began and
  // ended (guest/markers.hh).
  uint64_t operations = 0;
  Time began = kNever, ended = 0;
  Time born = 0, died = kNever;
  Time ran = 0, runs_since = 0;  // CPU time up to the last deschedule; time of the last install

  std::optional<std::string> name;  // set by PR_SET_NAME; until then it has the program's name

  uint64_t* x() const { return thread->hart.x; }
  Time now() const { return thread->hart.clock; }
  Time cpu_time(Time now) const {
    return ran + (state == State::running && now > runs_since ? now - runs_since : 0);
  }
  Registers read_registers() const;
  // Returns whether the stack pointer is on the alternate signal stack. As in Linux, the address
  // just above that stack counts, because an empty stack begins there, and its lowest does not.
  bool is_on_other_stack() const {
    const auto [stack, size] = other_stack;
    const uint64_t pointer = x()[kStackPointer];
    return pointer > stack && pointer - stack <= size;
  }

  // These end the run. The task never continues.
  ResumeAwaiter exit(int code);
  ResumeAwaiter give_up(std::string why);
};

// These describe for an error message where the task made its system call, or which fault it cannot
// handle.
std::string describe(const Task& task);
std::string describe(const Task& task, const Fatal& why);

}  // namespace uncore
