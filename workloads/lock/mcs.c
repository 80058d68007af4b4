// MCS lock: a queue of waiters, each spinning on its own line.
//
// Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory
// multiprocessors" (1991). A hart swaps its node in as the tail of the queue and links it to its
// predecessor's. The predecessor hands the lock over by writing to the hart's node. So a handoff
// moves a constant number of lines however many wait: throughput stays level where the ticket
// lock's falls. Linux's queued spinlock (2015) and its mutex's optimistic spinning derive from it.
#include "mcs.h"

#include "contend.h"

UC_WORKLOAD("MCS queue lock: fair, each waiter spins on a line of its own");

struct lock {
  struct mcs_lock queue;
};

static struct mcs_node* nodes;  // one for each hart

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) { mcs_acquire(&lock->queue, &nodes[id]); }

static void lock_release(struct lock* lock, unsigned id) { mcs_release(&lock->queue, &nodes[id]); }
