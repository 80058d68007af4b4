// CLH lock: each waiting thread reads the node of the thread before it.
#include "contend.h"

UC_WORKLOAD("CLH queue lock: fair, each waiter spins on its predecessor's line");

struct node {
  UC_ALIGNED _Atomic uint32_t busy;
};

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
  lock->tail = &nodes[n];
  return lock;
}

static void lock_acquire(struct lock* lock, unsigned id) {
  struct node* mine = harts[id].mine;
  atomic_store_explicit(&mine->busy, 1, memory_order_relaxed);
  struct node* before = atomic_exchange_explicit(&lock->tail, mine, memory_order_acq_rel);
  while (atomic_load_explicit(&before->busy, memory_order_acquire)) uc_pause();
  harts[id].before = before;
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)lock;
  atomic_store_explicit(&harts[id].mine->busy, 0, memory_order_release);
  harts[id].mine = harts[id].before;
}
