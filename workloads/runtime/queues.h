// Functions that the run queues (sched.c) and the sleep queues (sleepq.c) share.
//
// Locks here are held with interrupts off, because a handler may wake threads; the lock stores the
// state to restore. Lock order: a chain's lock before a run queue's.
#ifndef UNCORE_QUEUES_H_
#define UNCORE_QUEUES_H_

#include "runtime.h"
#include "spinlock.h"
#include "thread.h"

struct uc_spin {
  struct spinlock lock;
  bool interrupts;  // interrupts were on when the lock was taken
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

// A queue of threads, linked by their `next`, in order of arrival.
struct uc_threads {
  struct uc_thread *first, **end;
};

static inline void uc_threads_append(struct uc_threads* queue, struct uc_thread* thread) {
  thread->next = NULL;
  *queue->end = thread;
  queue->end = &thread->next;
}

// Unlinks and returns the most urgent thread on `channel`, the first among equals, or null.
struct uc_thread* uc_threads_take(struct uc_threads* queue, const void* channel);

void uc_sleepq_start(void);

// Makes a thread ready on a hart that its cpuset allows, and wakes the hart if it sleeps.
void uc_ready(struct uc_thread* thread);

// Leaves the hart to another thread. `held` guards the queue that this thread is in; it is unlocked
// only after the thread's registers are saved, so that no hart takes the thread before. Null for a
// thread in no queue, which never runs again.
void uc_block(struct uc_spin* held);

void uc_switch(struct uc_context* from, struct uc_context* to);
void uc_thread_begin(void);
_Noreturn void uc_thread_main(struct uc_thread* self);

#endif  // UNCORE_QUEUES_H_
