// MCS lock: a queue of waiters, each spinning on its own line.
//
// Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory
// multiprocessors" (1991). A hart swaps itself in as the tail of the queue and tells its
// predecessor; the predecessor lets it go by writing to its node. A handoff therefore moves a
// constant number of lines however many wait: the curve stays level where the ticket lock's falls.
// Linux's queued spinlock (2015) and the kernel mutex's optimistic spinning are its descendants.
#include "mcs.h"

#include "contend.h"

UC_WORKLOAD("MCS queue lock: fair, each waiter spins on a line of its own");

struct lock {
  struct mcs_lock queue;
};

static struct mcs_node* nodes;  // one per hart

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) { mcs_acquire(&lock->queue, &nodes[id]); }

static void lock_release(struct lock* lock, unsigned id) { mcs_release(&lock->queue, &nodes[id]); }
