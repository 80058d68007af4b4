// The default mutex of glibc: one word in the program's memory. A thread that finds it taken sleeps
// in futex(2) at once (lll_lock and lll_unlock; U. Drepper, "Futexes are tricky", 2011: mutex 2).
//
// Unlocking gives the lock to nobody: it frees the word and wakes one sleeper, which competes with
// threads that come. So a thread that runs may take the lock again and again while a sleeper is on
// its way. The kernel's part is a sleep queue (thread.h), which has a lock for each chain, like
// Linux's hash buckets of futexes. The time that a call takes to enter and leave the kernel is not
// in it; `switch_cost` may stand for that.
#ifndef UNCORE_GLIBC_MUTEX_H_
#define UNCORE_GLIBC_MUTEX_H_

#include "scheduler.h"
#include "uncore.h"

struct glibc_mutex {
  _Atomic uint32_t word;
};

enum { MUTEX_FREE, MUTEX_TAKEN, MUTEX_CONTESTED };

static inline bool glibc_trylock(struct glibc_mutex* mutex) {
  uint32_t word = MUTEX_FREE;
  return atomic_compare_exchange_strong_explicit(&mutex->word, &word, MUTEX_TAKEN,
                                                 memory_order_acquire, memory_order_relaxed);
}

static inline bool glibc_take_contested(struct glibc_mutex* mutex) {
  return atomic_exchange_explicit(&mutex->word, MUTEX_CONTESTED, memory_order_acquire) ==
         MUTEX_FREE;
}

static inline void glibc_lock(struct glibc_mutex* mutex) {
  if (glibc_trylock(mutex)) return;
  uc_sleepq_lock(mutex);
  while (!glibc_take_contested(mutex)) {
    uc_sleepq_wait(mutex);
    uc_sleepq_lock(mutex);
  }
  uc_sleepq_release(mutex);
}

static inline void glibc_unlock(struct glibc_mutex* mutex) {
  if (atomic_exchange_explicit(&mutex->word, MUTEX_FREE, memory_order_release) == MUTEX_CONTESTED)
    uc_wakeup_one(mutex);
}

#endif  // UNCORE_GLIBC_MUTEX_H_
