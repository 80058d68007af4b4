// Threads that sleep: what a kernel's scheduler offers to the locks and paths built on it.
//
// Each hart has a run queue. A thread runs until it sleeps, yields or ends (there is no
// preemption); the hart then takes the most urgent ready thread, or idles in wfi until another
// hart's wake-up sends it an IPI. What uc_main runs in is a thread too, bound to its hart, so a
// lock that sleeps may be used from uc_main directly; threads made with uc_thread_create run on a
// hart whenever the others there do not.
//
//     uc_setup:  uc_sched_setup(n);              // scheduler.h
//                uc_thread_create(body, argument, NULL); ...
//     uc_main:   uc_sched_run();                 // returns when all of them have ended
//
// Sleeping follows FreeBSD's sleepqueue(9): the lock of the channel's chain closes the gap between
// the decision to sleep and the sleep, so no wake-up is lost. To sleep until a word changes:
//
//     uc_sleepq_lock(channel);
//     if (must_wait) uc_sleepq_wait(channel);    // sleeps; the chain's lock is dropped meanwhile,
//     else uc_sleepq_release(channel);           //   and both ways end without it
//
// and whoever changes the word calls uc_wakeup afterwards. A sleeper woken has no promise that the
// word is still what it was woken for: it looks again.
//
// Waking may be done by an interrupt handler, sleeping not. Threads of one hart never run at the
// same time, so what only they use needs no lock between two calls that may sleep. Between two
// calls that may sleep a thread stays on its hart; after one, uc_id() may differ unless its cpuset
// says otherwise.
#ifndef UNCORE_THREAD_H_
#define UNCORE_THREAD_H_

#include "cpuset.h"
#include "uncore.h"

// ---- Threads ------------------------------------------------------------------------------------

// Smaller is more urgent, as in all BSDs; threads start with UC_PRIORITY_NORMAL.
enum { UC_PRIORITY_INTERRUPT = 0, UC_PRIORITY_NORMAL = 128, UC_PRIORITY_IDLE = 255 };

struct uc_context {
  uint64_t ra, sp, s[12];  // switch.S
#ifdef UC_HOST
  void* fiber;  // ThreadSanitizer's name for it
#endif
};

struct uc_thread {
  UC_ALIGNED struct uc_context context;
  void (*body)(void* argument);
  void* argument;
  const struct uc_cpuset* cpuset;
  struct uc_thread* next;  // next thread in a run queue or a sleep queue
  const void* channel;     // what it sleeps on
  // Fields that others read while it runs, apart from those it writes when it does not.
  UC_ALIGNED _Atomic unsigned running;  // runs on a hart at this moment: adaptive locks ask this
  _Atomic unsigned priority;            // as it counts now, perhaps lent
  unsigned hart;                        // where it runs, or ran last
  // State of priority lending (turnstile.h).
  unsigned own_priority;
  struct turnstile *blocked, *contested;  // lock that it waits for; list of locks that it holds
};

// Called before any other; a second call changes nothing. Workloads: uc_sched_setup (scheduler.h).
void uc_sched_start(unsigned n, uint64_t switch_cost, bool poll);

// Makes a thread, ready to run where `cpuset` allows. Its stack is as large as a hart's.
struct uc_thread* uc_thread_create(void (*body)(void*), void* argument,
                                   const struct uc_cpuset* cpuset);
struct uc_thread* uc_thread_self(void);

// Returns the set of one hart, the same each time. Called after uc_sched_setup.
const struct uc_cpuset* uc_cpuset_one(unsigned hart);

// Lets the other ready threads of this hart run that are no less urgent.
void uc_yield(void);

// Gives this hart to the threads until all that were created have ended, on all harts.
void uc_sched_run(void);

// Moves the calling thread to a hart of the set, as sched_bind(9); it stays there.
void uc_thread_migrate(const struct uc_cpuset* cpuset);

// Changes where a thread may run, from its next wake-up on.
static inline void uc_thread_bind(struct uc_thread* thread, const struct uc_cpuset* cpuset) {
  thread->cpuset = cpuset;
}

// For priority lending: takes effect at once for a thread that is ready or asleep too, because
// queues are searched when a thread is taken from them.
static inline void uc_thread_lend(struct uc_thread* thread, unsigned priority) {
  atomic_store_explicit(&thread->priority, priority, memory_order_relaxed);
}

static inline bool uc_thread_running(struct uc_thread* thread) {
  return atomic_load_explicit(&thread->running, memory_order_relaxed);
}

// A thread's priority of its own: before it runs, or by the thread itself.
static inline void uc_thread_prioritize(struct uc_thread* thread, unsigned priority) {
  thread->own_priority = priority;
  uc_thread_lend(thread, priority);
}

// ---- Sleep queues -------------------------------------------------------------------------------
//
// Channels within one word of 8 bytes share a chain: one lock covers a lock's readers and writers.

void uc_sleepq_lock(const void* channel);
void uc_sleepq_release(const void* channel);
void uc_sleepq_wait(const void* channel);  // called with the lock; returns without it

// With the lock, before and after: wake the most urgent sleeper (the longest asleep among equals),
// or all. They return how many.
unsigned uc_sleepq_signal(const void* channel);
unsigned uc_sleepq_broadcast(const void* channel);

// wakeup(9) and wakeup_one(9): the same with the lock taken and released.
unsigned uc_wakeup(const void* channel);
unsigned uc_wakeup_one(const void* channel);

#endif  // UNCORE_THREAD_H_
