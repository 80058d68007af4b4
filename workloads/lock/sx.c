// FreeBSD's sx lock: shared or exclusive, and its holders may sleep.
//
// It guards data that stay locked during memory allocation or I/O: process trees, address spaces.
// It is not known how long a holder sleeps, so waiters sleep too unless the holder runs, on sleep
// queues, and lend no priority. Without contention it costs as much as the rwlock (lock/rwlock.c):
// one compare-and-swap to lock, one to unlock, also for readers. `preempt` makes holders sleep.
//
// Check: as in contend_threads.h.
#include "sx.h"

#include "contend_threads.h"

UC_WORKLOAD("FreeBSD sx lock: shared or exclusive, its holders may sleep");

static struct sx* lock;

static void lock_setup(unsigned n) {
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  sx_init(lock, n);
}

static void lock_shared(void) { sx_slock(lock); }
static void unlock_shared(void) { sx_sunlock(lock); }
static void lock_exclusive(void) { sx_xlock(lock); }
static void unlock_exclusive(void) { sx_xunlock(lock); }
