// FreeBSD's MTX_DEF mutex, which is adaptive. A waiter spins while the owner runs; else it blocks
// on the turnstile of the lock and lends the owner its priority.
//
// Solaris 2 (1992) introduced mutexes that block; its adaptive ones are the model of
// FreeBSD's (2000) and of Linux's (2009). To block costs two thread switches and a wake-up;
// to spin wastes the hart's time. The waiting time is not known in advance, but if the owner
// runs it is likely to be short. `mutex` (mtx.h) makes waiters always block, or hands the
// lock over in order, which gave convoys in databases with more threads than harts
// (`threads`, `preempt`).
//
// Threads have eight different priorities, so that waiters lend theirs.
//
// Check: as in contend_threads.h; and no owner is less urgent than a thread blocked on its lock.
#define CONTEND_WRITE_EVERY 1
#include "contend_threads.h"
#include "mtx.h"

UC_WORKLOAD("FreeBSD MTX_DEF mutex: spins while its owner runs, else sleeps and lends");

static struct mtx* lock;

static void lock_setup(unsigned n) {
  mtx_setup(n);
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
}

static void check_lending(void) {
  uc_sleepq_lock(lock);
  struct turnstile* turnstile = &lock->turnstile;
  bool lent = !turnstile->owner || turnstile->owner->priority <= turnstile->urgency;
  uc_sleepq_release(lock);
  uc_check(lent, "an urgent thread waits for an owner that is less urgent");
}

static void lock_exclusive(void) {
  struct uc_thread* self = uc_thread_self();
  if (self->own_priority == UC_PRIORITY_NORMAL)
    uc_thread_prioritize(self, UC_PRIORITY_NORMAL - 1 - uc_id() % 8);
  mtx_lock(lock);
}

static void unlock_exclusive(void) {
  check_lending();
  mtx_unlock(lock);
}

static void lock_shared(void) { lock_exclusive(); }
static void unlock_shared(void) { unlock_exclusive(); }
