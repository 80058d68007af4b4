// Each hart's queue node is on the memory node nearest to that hart.
#include "contend.h"
#include "mcs.h"

UC_WORKLOAD("MCS queue lock: each node at its own hart");

struct lock {
  struct mcs_lock queue;
};

static struct mcs_node** nodes;

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, uc_node_of(0));
  for (unsigned id = 0; id < n; id++) nodes[id] = uc_alloc(sizeof **nodes, uc_node_of(id));
  return uc_alloc(sizeof(struct lock), uc_node_of(0));
}

static void lock_acquire(struct lock* lock, unsigned id) { mcs_acquire(&lock->queue, nodes[id]); }

static void lock_release(struct lock* lock, unsigned id) { mcs_release(&lock->queue, nodes[id]); }
