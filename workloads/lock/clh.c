// CLH lock: a queue of waiters, each spinning on the node of its predecessor.
//
// Invented by Craig (1993), and by Landin and Hagersten (1994). A hart marks its node as busy,
// swaps it in as the tail and waits until the previous tail is not busy. To release, it clears its
// own node, and takes its predecessor's node for the next time. There is no pointer to follow and
// no race with a successor that has not yet linked itself: a release is one store, where MCS
// (lock/mcs.c) may need a compare-and-swap. The price is that a hart spins on a node that another
// hart brought, so on a NUMA machine the home of that line may be any memory node.
#include "contend.h"

UC_WORKLOAD("CLH queue lock: fair, each waiter spins on its predecessor's line");

struct node {
  UC_ALIGNED _Atomic uint32_t busy;
};

// Each hart's nodes. Only the hart itself reads these pointers.
static struct {
  UC_ALIGNED struct node* mine;
  struct node* before;
}* harts;

struct lock {
  _Atomic(struct node*) tail;
};

static struct lock* lock_setup(unsigned n) {
  struct lock* lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  harts = uc_alloc(n * sizeof *harts, 0);
  struct node* nodes = uc_alloc((n + 1) * sizeof *nodes, (unsigned)lock_node);
  for (unsigned id = 0; id < n; id++) harts[id].mine = &nodes[id];
  lock->tail = &nodes[n];  // free, as if its owner had just left
  return lock;
}

static void lock_acquire(struct lock* lock, unsigned id) {
  struct node* node = harts[id].mine;
  atomic_store_explicit(&node->busy, 1, memory_order_relaxed);
  struct node* predecessor = atomic_exchange_explicit(&lock->tail, node, memory_order_acq_rel);
  while (atomic_load_explicit(&predecessor->busy, memory_order_acquire)) uc_pause();
  harts[id].before = predecessor;
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)lock;
  atomic_store_explicit(&harts[id].mine->busy, 0, memory_order_release);
  harts[id].mine = harts[id].before;  // no other hart uses that node any more
}
