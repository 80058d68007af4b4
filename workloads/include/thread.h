// Threads that sleep: what a kernel's scheduler offers to the locks and paths built on it.
//
// Each hart has a run queue. A thread runs until it sleeps, yields or ends (there is no
// preemption); the hart then takes the most urgent ready thread, or idles in wfi until another
// hart's wake-up sends it an IPI. Each hart runs uc_main in a thread too, bound to that hart, so
// uc_main may use a lock that sleeps. Threads made with uc_thread_create share the harts with
// these.
//
//     uc_setup:  uc_sched_setup(n);              // scheduler.h
//                uc_thread_create(body, argument, NULL); ...
//     uc_main:   uc_sched_run();                 // returns when all of them have ended
//
// Sleeping follows FreeBSD's sleepqueue(9): the lock of the channel's chain closes the gap between
// the decision to sleep and the sleep, so no wake-up is lost. To sleep until a word changes:
//
//     uc_sleepq_lock(channel);
//     if (must_wait) uc_sleepq_wait(channel);    // sleeps, without the chain's lock
//     else uc_sleepq_release(channel);           // both calls return without this lock
//
// and a thread that changes the word calls uc_wakeup afterwards. The word may have changed again
// before the sleeper runs, so the sleeper must check it again.
//
// An interrupt handler may wake threads, but it may not sleep. Threads of one hart never run at the
// same time, so data that only they use needs no lock between two calls that may sleep. Between two
// such calls a thread stays on its hart; after one, uc_id() may differ unless the thread's cpuset
// has only one hart.
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
  void* fiber;  // ThreadSanitizer's handle of this context
#endif
};

struct uc_thread {
  UC_ALIGNED struct uc_context context;
  void (*body)(void* argument);
  void* argument;
  const struct uc_cpuset* cpuset;
  struct uc_thread* next;  // next thread in a run queue or a sleep queue
  const void* channel;     // the channel on which it sleeps
  // Fields that other harts read while the thread runs; the fields above change when it sleeps.
  UC_ALIGNED _Atomic unsigned running;  // it runs on a hart now; adaptive locks read this
  _Atomic unsigned priority;            // its own or a lent priority, the more urgent of the two
  unsigned hart;                        // the hart on which it runs, or ran last
  // State of priority lending (turnstile.h).
  unsigned own_priority;
  struct turnstile *blocked, *contested;  // lock that it waits for; list of locks that it holds
};

// Starts the scheduler, before all other calls. Workloads call uc_sched_setup (scheduler.h).
void uc_sched_start(unsigned n, uint64_t switch_cost, bool poll);

// Makes a thread, ready to run where `cpuset` allows. Its stack is as large as a hart's.
struct uc_thread* uc_thread_create(void (*body)(void*), void* argument,
                                   const struct uc_cpuset* cpuset);
struct uc_thread* uc_thread_self(void);

// Returns the set of only `hart`, always the same object. Call uc_sched_setup before.
const struct uc_cpuset* uc_cpuset_one(unsigned hart);

// Lets the other ready threads of this hart run, if they are at least as urgent.
void uc_yield(void);

// Lets threads run on this hart until all created threads have ended, on all harts.
void uc_sched_run(void);

// Moves the calling thread to a hart of the set and keeps it in the set, like sched_bind(9).
void uc_thread_migrate(const struct uc_cpuset* cpuset);

// Changes the set of harts that a thread may run on. Takes effect at its next wake-up.
static inline void uc_thread_bind(struct uc_thread* thread, const struct uc_cpuset* cpuset) {
  thread->cpuset = cpuset;
}

// Lends a thread a priority. Takes effect at once, even if the thread is ready or asleep, because a
// queue is searched for the most urgent thread when one is taken from it.
static inline void uc_thread_lend(struct uc_thread* thread, unsigned priority) {
  atomic_store_explicit(&thread->priority, priority, memory_order_relaxed);
}

static inline bool uc_thread_running(struct uc_thread* thread) {
  return atomic_load_explicit(&thread->running, memory_order_relaxed);
}

// Sets a thread's own priority: called before the thread runs, or by the thread itself.
static inline void uc_thread_prioritize(struct uc_thread* thread, unsigned priority) {
  thread->own_priority = priority;
  uc_thread_lend(thread, priority);
}

// ---- Sleep queues -------------------------------------------------------------------------------
//
// Channels in the same aligned 8 bytes share a chain, such as those of one lock's two queues.

void uc_sleepq_lock(const void* channel);
void uc_sleepq_release(const void* channel);
void uc_sleepq_wait(const void* channel);  // called with the lock; returns without it

// Called with the chain's lock, which stays held. Wake the most urgent sleeper (among equals the
// one longest asleep), or all of them. Return the number of threads woken.
unsigned uc_sleepq_signal(const void* channel);
unsigned uc_sleepq_broadcast(const void* channel);

// Like the two functions above, but take and release the lock: wakeup(9) and wakeup_one(9).
unsigned uc_wakeup(const void* channel);
unsigned uc_wakeup_one(const void* channel);

#endif  // UNCORE_THREAD_H_
