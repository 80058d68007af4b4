// Exchange lock: exchange until the old value says that it was free, without a pause.
//
// lock/tas.c waits a moment after each failed attempt; this one does not, and shows what that is
// worth. Exchanges of those who cannot have the lock keep the line from the one who must give it
// back, so its time grows with every thread that waits.
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
