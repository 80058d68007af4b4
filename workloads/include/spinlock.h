// The simplest lock, in its two parts: a test-and-set that takes it, and a test that waits.
//
// The atomic exchange writes whether or not it succeeds, so it takes the line from everybody; the
// load in front of it is free while the line rests in the waiter's cache (Rudolph and Segall,
// 1984). Locks that must be small, or are rarely contended, are this one: `spin_lock` tests first.
//
// A release is seen by all who wait, and all of them try. Before this header SPIN_DELAY may be
// defined as the most pauses for which a waiter stays away, doubling from one, as with all locks of
// FreeBSD (lock_delay in its kern/subr_lock.c). Then a hot lock costs its waiters' time instead of
// the line's.
#ifndef UNCORE_SPINLOCK_H_
#define UNCORE_SPINLOCK_H_

#include "uncore.h"

#ifndef SPIN_DELAY
#define SPIN_DELAY 0
#endif

struct spinlock {
  _Atomic uint32_t taken;
};

static inline bool spin_trylock(struct spinlock* lock) {
  return !atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire);
}

static inline bool spin_taken(struct spinlock* lock) {
  return atomic_load_explicit(&lock->taken, memory_order_relaxed);
}

// Waits until the lock looks free: reads only.
static inline void spin_await(struct spinlock* lock) {
  while (spin_taken(lock)) uc_pause();
}

// Who finds the lock taken stays away before looking again, twice as long each time.
static inline void spin_stay_away(uint64_t* pauses) {
  if (2 * *pauses <= SPIN_DELAY) *pauses *= 2;
  for (uint64_t i = *pauses; i > 0; i--) uc_pause();
}

static inline void spin_lock(struct spinlock* lock) {
  uint64_t pauses = 1;
  while (spin_taken(lock) || !spin_trylock(lock)) {
    if (SPIN_DELAY)
      spin_stay_away(&pauses);
    else
      spin_await(lock);
  }
}

static inline void spin_unlock(struct spinlock* lock) {
  atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif  // UNCORE_SPINLOCK_H_
