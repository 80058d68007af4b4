// Exchange lock: exchange the word until its old value was free, without a pause.
//
// lock/tas.c pauses after each failed attempt; this lock does not, which shows the effect of the
// pause. Failed exchanges of the waiters keep the line away from the owner, which needs it to
// release the lock, so the time of a release grows with every waiter.
#include "contend.h"
#include "spinlock.h"

UC_WORKLOAD("Exchange lock: attempts without a pause keep the line from the owner");

struct lock {
  struct spinlock word;
};

static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  while (!spin_trylock(&lock->word)) continue;
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  spin_unlock(&lock->word);
}
