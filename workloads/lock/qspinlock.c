// Linux's queued spin lock: a pending bit for the first waiter, a queue for the others.
//
// Linux has this lock since 4.2 on x86 and later on most other architectures (queued_lock.h
// explains it). One waiter spins on the word; each further one spins on its own line, and the time
// of a handoff does not depend on the number of waiters. Like any lock that serves in order of
// arrival, it crosses the machine whenever the next waiter is on the other side. lock/cna.c was
// proposed to avoid that.
#include "contend.h"
#include "queued_lock.h"

UC_WORKLOAD("Linux's queued spin lock: a pending bit for the first, a queue for the rest");

struct lock {
  union queued_lock word;
};

static struct queue_node* nodes;  // one for each hart

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) { queue_lock(&lock->word, nodes, id); }

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  queue_unlock(&lock->word);
}
