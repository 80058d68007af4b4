// FreeBSD's sx lock: shared or exclusive, and whoever holds it may sleep.
//
// For what is held across memory allocation or input and output: process trees, address spaces.
// Nobody can say how long a holder sleeps, so waiters without a running holder sleep too, on sleep
// queues, and lend nothing. The cost of its uncontended paths is the rwlock's (lock/rwlock.c): one
// compare-and-swap in, one out, for readers too. `preempt` is a holder that sleeps.
//
// Check: contend_threads.h's.
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
