// A test-and-set lock replaces the tree lock, so there are no levels.
#include "contend.h"

UC_WORKLOAD("Test-and-set lock");
UC_PARAM(u64, levels, 1, "levels", "of locks for two that a hart takes, or as many as harts need");

struct lock {
  UC_ALIGNED _Atomic uint32_t held;
};

static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire)) uc_pause();
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  atomic_store_explicit(&lock->held, 0, memory_order_release);
}
