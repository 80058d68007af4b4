// A timer made by timer_create, which sends a signal when it expires.
#pragma once

#include "os/timers.hh"

namespace uncore {

struct PosixTimer : Alarm {
  Work expire(Linux& os, Flow& by, uint32_t hart) override;

  uint32_t number = 0;
  uint64_t clock = 0;
  unsigned signal = 0;   // the signal sent at expiry; 0: none
  uint32_t tid = 0;      // the thread that gets the signal; 0: the process
  uint64_t value = 0;    // si_value of the signal
  uint64_t overrun = 0;  // expirations, beyond the first, that the last signal reported
};

}  // namespace uncore
