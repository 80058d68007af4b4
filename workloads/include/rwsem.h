// Linux's rw_semaphore, taken for writing: the lock of an address space (mmap_sem, Linux 4.15).
//
// A thread that finds it taken spins in a queue (osq_lock, an MCS lock) while the owner runs. Only
// the first of the queue polls for the owner's release. Count, owner and queue are on one line: an
// arriving thread adds itself to the count, and subtracts itself again if the lock was not free.
//
// In this model no waiter sleeps, because an owner always runs.
#ifndef UNCORE_RWSEM_H_
#define UNCORE_RWSEM_H_

#include "mcs.h"

struct rwsem {
  _Atomic int64_t writers;  // the owner, and arrivals that have not yet subtracted themselves
  _Atomic bool owned;
  struct mcs_lock queue;
};

static inline void rwsem_own(struct rwsem* sem, bool owned) {
  atomic_store_explicit(&sem->owned, owned, memory_order_relaxed);
}

static inline bool rwsem_try(struct rwsem* sem) {
  int64_t nobody = 0;
  return atomic_compare_exchange_strong_explicit(&sem->writers, &nobody, 1, memory_order_acquire,
                                                 memory_order_relaxed);
}

static __attribute__((noinline)) void rwsem_spin(struct rwsem* sem, struct mcs_node* node) {
  atomic_fetch_sub_explicit(&sem->writers, 1, memory_order_relaxed);
  mcs_acquire(&sem->queue, node);
  do
    while (atomic_load_explicit(&sem->owned, memory_order_relaxed)) uc_pause();
  while (!rwsem_try(sem));
  rwsem_own(sem, true);
  mcs_release(&sem->queue, node);
}

// `node` is in use until this function returns.
static inline void rwsem_write_lock(struct rwsem* sem, struct mcs_node* node) {
  if (atomic_fetch_add_explicit(&sem->writers, 1, memory_order_acquire) == 0)
    rwsem_own(sem, true);
  else
    rwsem_spin(sem, node);
}

static inline void rwsem_write_unlock(struct rwsem* sem) {
  rwsem_own(sem, false);
  atomic_fetch_sub_explicit(&sem->writers, 1, memory_order_release);
}

#endif  // UNCORE_RWSEM_H_
