// The simplest lock, in its two parts: a test-and-set that takes it, and a test that waits.
//
// The atomic exchange writes whether or not it succeeds, so it takes the line from everybody; the
// load in front of it is free while the line rests in the waiter's cache (Rudolph and Segall,
// 1984). Locks that must be small, or are rarely contended, are this one: `spin_lock` tests first.
#ifndef UNCORE_SPINLOCK_H_
#define UNCORE_SPINLOCK_H_

#include "uncore.h"

struct spinlock {
  _Atomic uint32_t taken;
};

static inline bool spin_trylock(struct spinlock* lock) {
  return !atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire);
}

// Waits until the lock looks free: reads only.
static inline void spin_await(struct spinlock* lock) {
  while (atomic_load_explicit(&lock->taken, memory_order_relaxed)) uc_pause();
}

static inline void spin_lock(struct spinlock* lock) {
  do spin_await(lock);
  while (!spin_trylock(lock));
}

static inline void spin_unlock(struct spinlock* lock) {
  atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif  // UNCORE_SPINLOCK_H_
