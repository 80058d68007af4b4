// The node nearest to the last hart is as good as hart 0's, because all harts are on one socket.
#include "contend.h"
#include "mcs.h"

UC_WORKLOAD("MCS queue lock: at the last hart's node");

struct lock {
  struct mcs_lock queue;
};

static struct mcs_node* nodes;

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, uc_node_of(n - 1));
  return uc_alloc(sizeof(struct lock), uc_node_of(n - 1));
}

static void lock_acquire(struct lock* lock, unsigned id) { mcs_acquire(&lock->queue, &nodes[id]); }

static void lock_release(struct lock* lock, unsigned id) { mcs_release(&lock->queue, &nodes[id]); }
