// The lock's memory is on the machine's last node, wherever the harts run.
#include "contend.h"
#include "mcs.h"

UC_WORKLOAD("MCS queue lock: at the last node");

struct lock {
  struct mcs_lock queue;
};

static struct mcs_node* nodes;

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, uc_nodes() - 1);
  return uc_alloc(sizeof(struct lock), uc_nodes() - 1);
}

static void lock_acquire(struct lock* lock, unsigned id) { mcs_acquire(&lock->queue, &nodes[id]); }

static void lock_release(struct lock* lock, unsigned id) { mcs_release(&lock->queue, &nodes[id]); }
