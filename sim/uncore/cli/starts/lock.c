// A ticket lock, as a start for a lock of yours: change the struct and the three functions.
//
//   uncore run graviton2 THIS_FILE --threads 1,2..64      how it scales, on a machine of 64 cores
//   uncore show THIS_FILE                                 its parameters, for --set NAME=VALUE
//
// contend.h brings the rest: every thread takes the lock, writes what it guards, and gives it back,
// `ops` times; a lock that lets two threads in fails the run.
#include "contend.h"

UC_WORKLOAD("my lock");  // what uncore list and show say of it

// Everything that the lock keeps in memory. Fields that are declared together share a line of 64
// bytes: whoever writes one of them takes the line from all who read another.
struct lock {
  _Atomic uint32_t next;    // the ticket that the next to arrive will draw
  _Atomic uint32_t served;  // the ticket whose holder is inside
};

// Called once, before the threads begin. `n`: how many they are. The memory is zero.
static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

// `id`: which thread this is, from 0.
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
