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

static bool queue_close(struct queue_node* self, uint32_t word) {
  (void)self;
  return queue_swap_word(&word, QUEUED_TAKEN, memory_order_relaxed);
}

static void queue_pass(struct queue_node* self, struct queue_node* next) {
  (void)self;
  atomic_store_explicit(&next->granted, 1, memory_order_release);
}

static void lock_setup(unsigned n) { queue_setup(n, (unsigned)lock_node); }

static void lock_acquire(unsigned id) { queue_lock(id); }

static void lock_release(unsigned id) {
  (void)id;
  queue_unlock();
}
