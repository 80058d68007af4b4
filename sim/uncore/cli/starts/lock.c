// A ticket lock from which to write your own lock: change the struct and the three functions.
//
//   uncore run graviton2 THIS_FILE --threads 1,2..64      how it scales, on a machine of 64 cores
//   uncore show THIS_FILE                                 its parameters, for --set NAME=VALUE
//
// contend.h has the rest of the program: `ops` times, each thread acquires the lock, writes the
// guarded data, and releases the lock. The run fails if the lock admits two threads together.
#include "contend.h"

UC_WORKLOAD("my lock");  // description for uncore list and show

// The data of the lock. Fields that are declared together share a line of 64 bytes, so a hart that
// writes one field takes the line from all harts that read another.
struct lock {
  _Atomic uint32_t next;    // ticket of the next thread that arrives
  _Atomic uint32_t served;  // ticket of the thread that holds the lock
};

// Called once, before the threads begin. `n` is the number of threads. The memory is zero.
static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

// `id` is the number of this thread, from 0.
static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  uint32_t ticket = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&lock->served, memory_order_acquire) != ticket) uc_pause();
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  uint32_t ticket = atomic_load_explicit(&lock->served, memory_order_relaxed);
  atomic_store_explicit(&lock->served, ticket + 1, memory_order_release);
}
