// A test-and-set lock is fast because a hart keeps it for several turns. It is unfair and far.
#include "contend.h"

UC_WORKLOAD("Test-and-set at the other socket");

struct lock {
  _Atomic uint32_t held;
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
