// Linux's queued spin lock: a word with a pending bit, and a queue in order of arrival.
//
// The lock of Linux kernels since 4.2 on x86 and later on most others (queued_lock.h tells how it
// works). One thread that waits spins on the word; from the second on, each spins on a line of its
// own, and the time of a handoff no longer depends on how many wait. As any lock that serves in
// order of arrival, it crosses the machine as often as its waiters stand in turn on either side of
// it; lock/cna.c is what was proposed against that.
#include "contend.h"
#include "queued_lock.h"

UC_WORKLOAD("Linux's queued spin lock: a pending bit for the first, a queue for the rest");

struct lock {
  union queued_lock word;
};

static struct queue_node* nodes;  // one per hart

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) { queue_lock(&lock->word, nodes, id); }

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  queue_unlock(&lock->word);
}
