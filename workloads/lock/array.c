// Array lock: a circle of as many places as harts; each waiter spins on its own place.
//
// Anderson, "The performance of spin lock alternatives for shared-memory multiprocessors" (1990).
// The lock of Graunke and Thakkar (1990) is similar. A hart draws a place with one fetch-and-add
// and spins on the flag there; a release writes the next place's flag, which one hart reads. So a
// handoff moves one line to one waiter, for any number of waiters: it is the first lock whose cost
// does not grow with the queue. Each lock needs a line of memory for each hart, and all harts use
// all places in turn, so a flag's home is not near the hart that spins on it.
#include "contend.h"

UC_WORKLOAD("Anderson's array lock: fair, each waiter spins on its place in a circle");

static struct place {
  UC_ALIGNED _Atomic uint32_t called;
}* places;

struct lock {
  UC_ALIGNED _Atomic uint64_t next;  // number that the next hart to arrive draws
  UC_ALIGNED uint64_t held;          // number that the owner drew; only the owner uses it
};

static uint64_t circle;  // number of places; read-only

static struct lock* lock_setup(unsigned n) {
  circle = n;
  places = uc_alloc(n * sizeof *places, (unsigned)lock_node);
  places[0].called = 1;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  uint64_t drawn = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
  struct place* place = &places[drawn % circle];
  while (!atomic_load_explicit(&place->called, memory_order_acquire)) uc_pause();
  atomic_store_explicit(&place->called, 0, memory_order_relaxed);  // for the place's next use
  lock->held = drawn;
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  struct place* next = &places[(lock->held + 1) % circle];
  atomic_store_explicit(&next->called, 1, memory_order_release);
}
