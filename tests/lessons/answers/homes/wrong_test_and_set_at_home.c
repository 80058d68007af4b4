// The memory is near, but a test-and-set lock is unfair: a hart may wait for all others to finish.
#include "contend.h"

UC_WORKLOAD("Test-and-set at home");

struct lock {
  _Atomic uint32_t held;
};

static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), uc_node_of(0));
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire)) uc_pause();
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  atomic_store_explicit(&lock->held, 0, memory_order_release);
}
