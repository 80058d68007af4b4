// Test-and-set lock: exchange the word until its old value was free.
//
// This is the lock of the first multiprocessors (IBM's System/360 had the instruction in 1964), and
// the simplest one. Each attempt, even one that fails, must own the line, so it moves among the
// waiters, and the owner's release queues after all of them: a handoff takes as many transfers as
// there are waiters, while no hart makes progress. Anderson (1990) measured it; lock/ttas.c is the
// first remedy.
#include "contend.h"
#include "spinlock.h"

UC_WORKLOAD("Test-and-set lock: every attempt takes the line, also from the owner");

struct lock {
  struct spinlock word;
};

static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  while (!spin_trylock(&lock->word)) uc_pause();
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  spin_unlock(&lock->word);
}
