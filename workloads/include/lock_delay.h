// How FreeBSD's locks back off: whoever finds one taken stays away before looking again, twice as
// long each time (lock_delay in its kern/subr_lock.c). Then a hot lock costs its waiters' time
// instead of the line's.
//
//     struct lock_delay delay = {0};
//     while (taken) lock_delay_more(&delay);
//
// FreeBSD counts pauses, so that the same delay is fifty times as long on a Xeon as on a Zen 1. The
// first that waits measures how long one takes; then the time passes without executing them.
#ifndef UNCORE_LOCK_DELAY_H_
#define UNCORE_LOCK_DELAY_H_

#include "uncore.h"

// FreeBSD's own limit is 256 for each processor, at most 32678: longer than a short run lasts where
// a pause takes 140 cycles.
UC_PARAM(u64, lock_delay, 1024, "pauses", "longest absence of who waits for a lock; 0: none");

#define LOCK_DELAY_SAMPLE 256  // pauses

static _Atomic uint64_t lock_delay_sampled;  // ns that so many took; 0: not known yet

struct lock_delay {
  uint64_t pauses;
};

static inline uint64_t lock_delay_sample(void) {
  uint64_t before = uc_now();
  for (unsigned i = 0; i < LOCK_DELAY_SAMPLE; i++) uc_pause();
  uint64_t took = uc_now() - before;
  atomic_store_explicit(&lock_delay_sampled, took, memory_order_relaxed);
  return took;
}

static inline void lock_delay_more(struct lock_delay* delay) {
  uint64_t more = delay->pauses ? 2 * delay->pauses : 1;
  if (more <= lock_delay) delay->pauses = more;
  if (delay->pauses <= 1) {
    uc_pause();
    return;
  }
  uint64_t sample = atomic_load_explicit(&lock_delay_sampled, memory_order_relaxed);
  if (sample == 0) sample = lock_delay_sample();
  uc_delay((delay->pauses - 1) * sample / LOCK_DELAY_SAMPLE);  // which pauses once more
}

#endif  // UNCORE_LOCK_DELAY_H_
