// Both words are on one line: one line fewer, but all waiting threads still fetch it.
#include "contend.h"

UC_WORKLOAD("Ticket lock in one line");

struct lock {
  UC_ALIGNED _Atomic uint32_t next;
  _Atomic uint32_t served;
};

static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  uint32_t mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&lock->served, memory_order_acquire) != mine) uc_pause();
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  uint32_t served = atomic_load_explicit(&lock->served, memory_order_relaxed);
  atomic_store_explicit(&lock->served, served + 1, memory_order_release);
}
