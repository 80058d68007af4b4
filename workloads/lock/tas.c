// Test-and-set lock: exchange until the old value says that it was free.
//
// The lock of the first multiprocessors (IBM's System/360 had the instruction in 1964), and the one
// everybody writes first. Each attempt, also one that fails, must own the line, so the waiters pass
// it around among themselves, and the owner who wants to give the lock back queues behind them all:
// a handoff takes as many transfers as there are waiters, while nobody makes progress. Anderson
// (1990) measured it; lock/ttas.c is the first remedy.
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
