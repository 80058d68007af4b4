// A mutex: readers exclude each other, so nothing becomes faster.
#include "contend_threads.h"

UC_WORKLOAD("Readers and writers alone, by a ticket lock");

static struct {
  UC_ALIGNED _Atomic uint32_t next, served;
}* lock;

static void lock_setup(unsigned n) {
  (void)n;
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
}

static void lock_exclusive(void) {
  uint32_t mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&lock->served, memory_order_acquire) != mine) uc_pause();
}

static void unlock_exclusive(void) {
  uint32_t served = atomic_load_explicit(&lock->served, memory_order_relaxed);
  atomic_store_explicit(&lock->served, served + 1, memory_order_release);
}

static void lock_shared(void) { lock_exclusive(); }
static void unlock_shared(void) { unlock_exclusive(); }
