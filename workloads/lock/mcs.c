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

static struct mcs_lock* lock;
static struct mcs_node* nodes;  // one per hart

static void lock_setup(unsigned n) {
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
}

static void lock_acquire(unsigned id) { mcs_acquire(lock, &nodes[id]); }

static void lock_release(unsigned id) { mcs_release(lock, &nodes[id]); }
