// MCS lock: a queue of waiters, each of which spins on its own node. lock/mcs.c explains it.
//
// The caller provides the node, which is in the queue from acquire to release.
#ifndef UNCORE_MCS_H_
#define UNCORE_MCS_H_

#include "uncore.h"

struct mcs_node {
  UC_ALIGNED _Atomic(struct mcs_node*) next;
  _Atomic uint32_t granted;
};

struct mcs_lock {
  _Atomic(struct mcs_node*) tail;  // the last node in the queue; null while the lock is free
};

static inline void mcs_acquire(struct mcs_lock* lock, struct mcs_node* self) {
  atomic_store_explicit(&self->next, NULL, memory_order_relaxed);
  atomic_store_explicit(&self->granted, 0, memory_order_relaxed);
  struct mcs_node* before = atomic_exchange_explicit(&lock->tail, self, memory_order_acq_rel);
  if (!before) return;
  atomic_store_explicit(&before->next, self, memory_order_release);
  while (!atomic_load_explicit(&self->granted, memory_order_acquire)) uc_pause();
}

static inline void mcs_release(struct mcs_lock* lock, struct mcs_node* self) {
  struct mcs_node* after = atomic_load_explicit(&self->next, memory_order_acquire);
  if (!after) {
    struct mcs_node* expected = self;
    if (atomic_compare_exchange_strong_explicit(&lock->tail, &expected, NULL, memory_order_release,
                                                memory_order_relaxed))
      return;
    // Another hart has made itself the tail, but has not written our `next` yet.
    while (!(after = atomic_load_explicit(&self->next, memory_order_acquire))) uc_pause();
  }
  atomic_store_explicit(&after->granted, 1, memory_order_release);
}

#endif  // UNCORE_MCS_H_
