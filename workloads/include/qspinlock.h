// Linux's spin lock since 4.2 (Long and Zijlstra): a word, and a queue of who waits for it.
//
// Only the first of the queue watches the word; whoever comes while there is a queue joins it, so
// the lock is handed on in order (lock/mcs.c has the story). Linux packs the queue's tail into the
// word; here it stands beside it, on the same line.
//
// Not modelled: the second bit that a single waiter takes instead of queueing.
#ifndef UNCORE_QSPINLOCK_H_
#define UNCORE_QSPINLOCK_H_

#include "mcs.h"

struct qspinlock {
  struct mcs_lock queue;
  _Atomic uint32_t taken;
};

static inline bool qspin_try(struct qspinlock* lock) {
  uint32_t nobody = 0;
  return atomic_compare_exchange_strong_explicit(&lock->taken, &nobody, 1, memory_order_acquire,
                                                 memory_order_relaxed);
}

static __attribute__((noinline)) void qspin_wait(struct qspinlock* lock, struct mcs_node* node) {
  mcs_acquire(&lock->queue, node);
  do
    while (atomic_load_explicit(&lock->taken, memory_order_relaxed)) uc_pause();
  while (!qspin_try(lock));
  mcs_release(&lock->queue, node);
}

// `node` stays the caller's until this returns.
static inline void qspin_lock(struct qspinlock* lock, struct mcs_node* node) {
  bool queue = atomic_load_explicit(&lock->queue.tail, memory_order_relaxed);
  if (queue || !qspin_try(lock)) qspin_wait(lock, node);
}

static inline void qspin_unlock(struct qspinlock* lock) {
  atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif  // UNCORE_QSPINLOCK_H_
