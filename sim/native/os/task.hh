// A task: one thread of the program, as Linux sees it.
//
// Invariant: its registers are in the hart while it is `running`, and here otherwise.
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

inline constexpr uint64_t kEcallBytes = 4;     // a call returns to the next instruction
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
  Thread* thread = nullptr;  // the hart it runs on; null while it does not run
  Registers registers;
  std::vector<bool> allowed;  // harts that it may run on

  // While it waits.
  Time until = kNever;     // when its timer wakes it
  bool timed_out = false;  // its timer has woken it
  uint64_t waits_on = 0;   // the futex that it sleeps on; 0: none (K9)
  uint32_t mask = 0;       // bits of FUTEX_WAKE_BITSET that wake it
  uint32_t fences = 0;     // harts that have yet to fence for it (K10)

  // Set by sched_setscheduler (K7.1). Only SCHED_FIFO and SCHED_RR have a priority.
  static constexpr uint32_t kOther = 0, kFifo = 1;
  uint32_t policy = 0, priority = 0;
  bool resets = false;  // SCHED_RESET_ON_FORK
  int32_t nice = 0;     // set by setpriority; has no effect

  uint64_t clear_tid = 0, robust = 0;  // addresses that set_tid_address and set_robust_list gave
  uint64_t blocked = 0, awaited = 0;   // sets of signals: masked; awaited by rt_sigtimedwait
  std::optional<uint64_t> mask_after;  // the set to mask again when the call has ended
  PendingSignals pending;
  std::array<uint64_t, 2> other_stack{};  // alternate stack of handlers: address, size

  // The call it is in, or was in last.
  uint64_t call = 0, called_at = 0;  // the call's number, the pc of its ecall
  std::array<uint64_t, 6> args{};    // the call's a0 to a5
  Time called = 0;                   // when the call began
  bool restarts = false;             // the call was ended by ERESTARTSYS, at the present trap

  // Operations that its markers count; when the measured part began and ended (guest/markers.hh).
  uint64_t operations = 0;
  Time began = kNever, ended = 0;
  Time born = 0, died = kNever;
  Time ran = 0, runs_since = 0;  // ps on harts before the present stay; when that began

  uint64_t* x() const { return thread->hart.x; }
  Time now() const { return thread->hart.clock; }
  Time on_harts(Time now) const {
    return ran + (state == State::running && now > runs_since ? now - runs_since : 0);
  }
  Registers read_registers() const;

  // Ends the run; the task never goes on.
  Suspended exit(int code);
  Suspended give_up(std::string why);
};

// Describe, for a message, the place of the task's call, or why the task cannot go on.
std::string describe(const Task& task);
std::string describe(const Task& task, const Fatal& why);

}  // namespace uncore
