// The loop that all kernel paths share: every hart makes the same call again and again.
//
// will-it-scale (Blanchard) has the same shape: n tasks loop over one system call, and it reports
// the calls per second over n. A path is a skeleton of the real call: the shared lines that it
// reads or writes and the locks that guard them, in the real order, and between them as many
// instructions as the real path spends on private lines. The path's parameter `work` is that
// number; if a kernel's rate for a single task is known, the default gives about that rate.
//
// A path's file includes this header and defines the function declared below. If its lines need
// more calls to reach a steady state, it defines CALLS_WARMUP first.
#ifndef UNCORE_CALLS_H_
#define UNCORE_CALLS_H_

#include "loop.h"
#include "uncore.h"

// Kernel locks back off, so spinlock.h does, too.
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
