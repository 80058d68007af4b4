// Only the queue nodes are moved to the near node; the tail stays on the other socket.
#include "contend.h"
#include "mcs.h"

UC_WORKLOAD("MCS queue lock: the tail far");

struct lock {
  struct mcs_lock queue;
};

static struct mcs_node* nodes;

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, uc_node_of(0));
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) { mcs_acquire(&lock->queue, &nodes[id]); }

static void lock_release(struct lock* lock, unsigned id) { mcs_release(&lock->queue, &nodes[id]); }
