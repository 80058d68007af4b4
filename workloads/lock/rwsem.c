// Linux's rw_semaphore, which is only taken for writing here. rwsem.h explains it.
#include "rwsem.h"

#include "contend.h"

UC_WORKLOAD("Linux's rw_semaphore taken for writing: spinning writers queue before the word");

struct lock {
  struct rwsem sem;
};

static struct {
  UC_ALIGNED struct mcs_node node;
}* nodes;  // one for each hart

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  rwsem_write_lock(&lock->sem, &nodes[id].node);
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  rwsem_write_unlock(&lock->sem);
}
