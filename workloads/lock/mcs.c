// MCS lock: a queue of waiters, each spinning on its own line.
//
// Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory
// multiprocessors" (1991). A hart swaps itself in as the tail of the queue and tells its
// predecessor; the predecessor lets it go by writing to its node. A handoff therefore moves a
// constant number of lines however many wait: the curve stays level where the ticket lock's falls.
// Linux's queued spinlock (2015) and the kernel mutex's optimistic spinning are its descendants.
#include "contend.h"

UC_WORKLOAD("MCS queue lock: fair, each waiter spins on a line of its own");

struct node {
  UC_ALIGNED _Atomic(struct node*) next;
  _Atomic uint32_t granted;
};

static struct node* nodes;           // one per hart
static _Atomic(struct node*)* tail;  // the last in the queue; null while the lock is free

static void lock_setup(unsigned n) {
  tail = uc_alloc(sizeof *tail, (unsigned)lock_node);
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
}

static void lock_acquire(unsigned id) {
  struct node* self = &nodes[id];
  atomic_store_explicit(&self->next, NULL, memory_order_relaxed);
  atomic_store_explicit(&self->granted, 0, memory_order_relaxed);
  struct node* before = atomic_exchange_explicit(tail, self, memory_order_acq_rel);
  if (!before) return;
  atomic_store_explicit(&before->next, self, memory_order_release);
  while (!atomic_load_explicit(&self->granted, memory_order_acquire)) uc_pause();
}

static void lock_release(unsigned id) {
  struct node *self = &nodes[id], *after = atomic_load_explicit(&self->next, memory_order_acquire);
  if (!after) {
    struct node* expected = self;
    if (atomic_compare_exchange_strong_explicit(tail, &expected, NULL, memory_order_release,
                                                memory_order_relaxed))
      return;
    // Somebody is the tail now, but has not told us yet.
    while (!(after = atomic_load_explicit(&self->next, memory_order_acquire))) uc_pause();
  }
  atomic_store_explicit(&after->granted, 1, memory_order_release);
}
