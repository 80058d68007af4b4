// Functions that the run queues (sched.c) and the sleep queues (sleepq.c) share.
//
// Locks here are held with interrupts off, because a handler may wake threads; the lock keeps what
// the holder must restore. Order: a chain's lock before a run queue's.
#ifndef UNCORE_QUEUES_H_
#define UNCORE_QUEUES_H_

#include "runtime.h"
#include "spinlock.h"
#include "thread.h"

struct uc_spin {
  struct spinlock lock;
  bool interrupts;  // were they on when it was taken
};

static inline void uc_spin_lock(struct uc_spin* lock) {
  bool interrupts = uc_interrupts_off();
  spin_lock(&lock->lock);
  lock->interrupts = interrupts;
}

static inline void uc_spin_unlock(struct uc_spin* lock) {
  bool interrupts = lock->interrupts;
  spin_unlock(&lock->lock);
  uc_interrupts_restore(interrupts);
}

// A queue of threads through their `next`. Whoever appends keeps the order of arrival.
struct uc_threads {
  struct uc_thread *first, **end;
};

static inline void uc_threads_append(struct uc_threads* queue, struct uc_thread* thread) {
  thread->next = NULL;
  *queue->end = thread;
  queue->end = &thread->next;
}

// Unlinks the most urgent thread that waits for `channel`, the first among equals; null if none.
struct uc_thread* uc_threads_take(struct uc_threads* queue, const void* channel);

void uc_sleepq_start(void);

// Makes a thread ready on a hart its cpuset allows, and wakes the hart if it sleeps.
void uc_ready(struct uc_thread* thread);

// Leaves the hart to another thread. `held` is unlocked once this thread's registers are saved:
// until then nobody may find it in the queue that `held` guards. Null for a thread in no queue,
// which never runs again.
void uc_block(struct uc_spin* held);

void uc_switch(struct uc_context* from, struct uc_context* to);
void uc_thread_begin(void);
_Noreturn void uc_thread_main(struct uc_thread* self);

#endif  // UNCORE_QUEUES_H_
