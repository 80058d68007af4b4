// Lets time pass in a thread without touching memory, inside or outside of a critical section.
//
// `delay` is uc_delay, which ends with a pause; where a pause takes a hundred cycles, a short time
// gets much longer than requested. `time` takes exactly the requested time. Both take the same time
// whatever else the core does, and count as executing: siblings share the issue width with them.
//
// Not modelled: on a real core, a delay loop that was calibrated alone takes longer beside a busy
// sibling, because both share the units for taken branches. lockhammer's loop on both threads of a
// core took 1.74 times as long on Broadwell, 1.2 on Zen 1, 1.01 on Skylake-SP; to compare with such
// measurements, request that longer time.
#ifndef UNCORE_SPIN_H_
#define UNCORE_SPIN_H_

#include "uncore.h"

enum { SPIN_DELAY, SPIN_TIME };

UC_OPTION(choice, spin_kind, spin, SPIN_DELAY, "delay|time",
          "how hold and think pass: with a pause behind them, or exactly");

static inline void spin_exactly(uint64_t ns) {
  if (!ns) return;
  uint64_t end = uc_now() + ns;
  UC_MARK(UC_MARK_DELAY, ns);
  for (uint64_t now; (int64_t)(end - (now = uc_now())) > 0;) UC_MARK(UC_MARK_DELAY, end - now);
}

static inline void spin_for(uint64_t ns) {
  if (spin_kind == SPIN_DELAY)
    uc_delay(ns);
  else
    spin_exactly(ns);
}

#endif  // UNCORE_SPIN_H_
