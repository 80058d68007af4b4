// A timer of timer_create: a signal when it is due.
#pragma once

#include "os/timers.hh"

namespace uncore {

struct PosixTimer : Alarm {
  Work expire(Linux& os, Flow& by, uint32_t hart) override;

  uint32_t number = 0;
  uint64_t clock = 0;
  unsigned signal = 0;   // 0: none
  uint32_t tid = 0;      // of the thread that gets it; 0: the process
  uint64_t value = 0;    // that comes with it
  uint64_t overrun = 0;  // how often it had expired besides when it was sent last
};

}  // namespace uncore
