// The back-off of FreeBSD's locks: a thread that finds a lock taken waits before it looks again,
// twice as long each time (lock_delay in kern/subr_lock.c). So waiting for a contended lock costs
// the waiters' time rather than transfers of the lock's line.
//
//     struct lock_delay delay = {0};
//     while (taken) lock_delay_more(&delay);
#ifndef UNCORE_LOCK_DELAY_H_
#define UNCORE_LOCK_DELAY_H_

#include "pauses.h"
#include "uncore.h"

// FreeBSD's own limit is 256 for each processor, at most 32678. Where a pause takes 140 cycles,
// that is longer than a short run.
UC_PARAM(u64, lock_delay, 1024, "pauses", "longest absence of who waits for a lock; 0: none");

struct lock_delay {
  uint64_t pauses;
};

static inline void lock_delay_more(struct lock_delay* delay) {
  uint64_t more = delay->pauses ? 2 * delay->pauses : 1;
  if (more <= lock_delay) delay->pauses = more;
  uc_pauses(delay->pauses ? delay->pauses : 1);
}

#endif  // UNCORE_LOCK_DELAY_H_
