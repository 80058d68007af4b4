// Time that passes in a thread without touching memory: inside a critical section, or outside.
//
// `delay` is uc_delay, which ends with a pause: on processors where that takes a hundred cycles, a
// short time is much longer than asked for. `time` is what was asked for. Both take as long
// whatever else the core does, and count as executing: siblings share the issue width with them.
//
// Not modelled: a loop that was calibrated alone takes longer beside a busy sibling, by what the
// core has only one of for taken branches. lockhammer's on both threads of a core, with nothing
// between them, took 1.74 times as long on Broadwell, 1.2 on Zen 1, 1.01 on Skylake-SP; ask for
// that time where it is to be compared.
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
