// Every hart makes the same call again and again: the shape of the kernel paths.
//
// So does will-it-scale (Blanchard): n tasks, each with one system call in its loop, and the sum of
// calls per second against n. A path is a skeleton: the lines that the real one writes or reads in
// common, the locks that guard them, in the real order, and between them as many instructions as
// the real one spends on lines that are nobody else's. `work` is that number, each path's own
// parameter; where a kernel's rate for a single task is known, its default gives about that rate.
//
// A path's file includes this header and defines the function declared below; a path whose lines
// need longer to reach a steady state defines CALLS_WARMUP before.
#ifndef UNCORE_CALLS_H_
#define UNCORE_CALLS_H_

#include "loop.h"
#include "uncore.h"

// A kernel's locks back off.
#ifdef UNCORE_SPINLOCK_H_
#error "calls.h says how spinlock.h waits: include it first"
#endif
#define SPIN_BACKS_OFF
#include "spinlock.h"

#ifndef CALLS_WARMUP
#define CALLS_WARMUP 2
#endif
UC_PARAM(u64, first_calls, CALLS_WARMUP, "calls", "calls of each hart before all others");

static void call(unsigned id);

void uc_main(unsigned id, unsigned n) {
  (void)n;
  for (uint64_t i = 0; i < first_calls; i++) call(id);
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    call(id);
    uc_op();
  }
  loop_end();
}

#endif  // UNCORE_CALLS_H_
