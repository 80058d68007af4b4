// The simplest lock, in two parts: a test-and-set that takes it, and a test that waits.
//
// The atomic exchange writes even if it fails, so it takes the line from all other harts. The load
// before it costs nothing while the line stays in the waiter's cache (Rudolph and Segall, 1984).
// Locks that must be small, or are rarely contended, are of this kind. `spin_lock` tests first. At
// a release all waiters see the lock free, and all try. If SPIN_BACKS_OFF is defined before this
// header is included, waiters back off before they test again (lock_delay.h).

#ifndef UNCORE_SPINLOCK_H_
#define UNCORE_SPINLOCK_H_

#include "uncore.h"

#ifdef SPIN_BACKS_OFF
#include "lock_delay.h"
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

// Waits until the lock is free. Only reads it.
static inline void spin_await(struct spinlock* lock) {
  while (spin_taken(lock)) uc_pause();
}

// Not inlined, unlike the fast path, which takes a free lock.
static __attribute__((noinline)) void spin_lock_contended(struct spinlock* lock) {
#ifdef SPIN_BACKS_OFF
  struct lock_delay delay = {0};
  do lock_delay_more(&delay);
  while (spin_taken(lock) || !spin_trylock(lock));
#else
  do spin_await(lock);
  while (!spin_trylock(lock));
#endif
}

static inline void spin_lock(struct spinlock* lock) {
  if (spin_taken(lock) || !spin_trylock(lock)) spin_lock_contended(lock);
}

static inline void spin_unlock(struct spinlock* lock) {
  atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif  // UNCORE_SPINLOCK_H_
