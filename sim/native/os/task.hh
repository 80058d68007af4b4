// A task: one thread of the program, as the kernel knows it.
//
// Invariant: its registers are in a hart while it is `running`, here otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hart/instruction.hh"
#include "time/time.hh"
#include "os/work.hh"

namespace uncore {

inline constexpr unsigned kFcsr = 3;           // the CSR
inline constexpr unsigned kFloatingFrom = 33;  // in x, where harts have floating point: f0

struct Registers {
  uint64_t x[kRegisters] = {};
  uint64_t pc = 0;
  uint64_t fcsr = 0;
};

struct Task : Flow {
  enum class State : uint8_t { ready, running, sleeping, dead };

  uint32_t tid = 0;
  State state = State::ready;
  uint32_t hart = 0;  // where it runs, or ran last, or is queued
  Registers registers;
  std::vector<bool> allowed;  // harts that it may run on

  // Sleep.
  bool woken = false;      // before it slept
  Time until = kNever;     // when it is woken at the latest,
  bool timed_out = false;  // and that was so
  uint64_t waits_on = 0;   // the futex that it sleeps on,
  uint32_t mask = 0;       // for these wake-ups
  uint32_t fences = 0;     // harts that have yet to fence for it

  // What it has told the kernel.
  uint64_t clear_tid = 0, robust = 0;
  uint64_t blocked = 0, pending = 0;      // signals, a bit each: signal n is bit n - 1
  std::array<uint64_t, 2> other_stack{};  // for handlers: where, and how large

  // The call it is in, or was in last.
  uint64_t call = 0, called_at = 0;
  std::array<uint64_t, 6> a{};
  Time called = 0;
  bool restarts = false;  // where a handler has interrupted it

  // What its markers said.
  uint64_t operations = 0;
  Time began = kNever, ended = 0;
};

}  // namespace uncore
