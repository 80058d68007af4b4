// One counter that every hart increments as fast as it can, with nothing in between.
//
// This is the loop of public benchmarks of contended atomics: a fixed number of increments, by one
// fetch-and-add whose result is not used, or by the classical retry loop, which loads the counter
// once and then repeats compare-and-swap until it succeeds; a failed attempt returns the value that
// the next one expects. The number of harts that wait for the line decides the rate of both. The
// time for which a core keeps the line decides whether an attempt ever succeeds.
//
// The same benchmarks also guard the counter by a lock: it is then a plain count on a line of its
// own, and waiters read the lock without a pause. `spin` is a test-and-test-and-set lock; `ticket`
// has both of its words on one line.
//
// counter/atomic and counter/cas do the same with a clock and a marker around each operation. That
// measures latencies, but hides the highest rate that the line allows.
//
// Check: the counter ends at the number of increments.
#include "loop.h"
#include "spinlock.h"
#include "ticket.h"
#include "uncore.h"

UC_WORKLOAD("One shared counter, incremented by every hart: by add, by retry, behind a lock");
enum { BY_ADD, BY_CAS, BY_SPIN, BY_TICKET };
UC_PARAM(choice, by, BY_ADD, "add|cas|spin|ticket",
         "one fetch-and-add; compare-and-swap until it succeeds; behind a lock of that kind");
UC_PARAM(u64, batch, 25, "operations", "increments between two looks at the clock");
UC_PARAM(u64, counter_node, 0, "node", "memory node of the counter's line");

static _Atomic uint64_t* counter;
static struct {
  UC_ALIGNED struct spinlock spin;
  UC_ALIGNED struct ticket_lock ticket;
}* locks;

void uc_setup(unsigned n) {
  (void)n;
  counter = uc_alloc(sizeof *counter, (unsigned)counter_node);
  locks = uc_alloc(sizeof *locks, (unsigned)counter_node);
  atomic_store_explicit(counter, 0, memory_order_relaxed);  // gives the line to this hart alone
}

static void add(uint64_t times) {
  _Atomic uint64_t* shared = counter;
  for (; times; times--) atomic_fetch_add_explicit(shared, 1, memory_order_relaxed);
}

static void compare_and_swap(uint64_t times) {
  _Atomic uint64_t* shared = counter;
  for (; times; times--) {
    uint64_t seen = atomic_load_explicit(shared, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(shared, &seen, seen + 1, memory_order_relaxed,
                                                    memory_order_relaxed)) {
    }
  }
}

// Adds 1 by a load and a store; the caller holds a lock.
static inline void count(_Atomic uint64_t* shared) {
  uint64_t seen = atomic_load_explicit(shared, memory_order_relaxed);
  atomic_store_explicit(shared, seen + 1, memory_order_relaxed);
}

static void spin(uint64_t times) {
  _Atomic uint64_t* shared = counter;
  struct spinlock* lock = &locks->spin;
  for (; times; times--) {
    do
      while (spin_taken(lock)) continue;
    while (!spin_trylock(lock));
    count(shared);
    spin_unlock(lock);
  }
}

static void ticket(uint64_t times) {
  _Atomic uint64_t* shared = counter;
  struct ticket_lock* lock = &locks->ticket;
  for (; times; times--) {
    uint32_t ticket = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&lock->served, memory_order_acquire) != ticket) continue;
    count(shared);
    ticket_release(lock);
  }
}

static void lose(uint64_t times) {
  for (; times; times--) {
    uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
    uc_delay(10);  // other harts add during this time, and their additions are lost
    atomic_store_explicit(counter, seen + 1, memory_order_relaxed);
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    if (UC_SABOTAGE)
      lose(batch);
    else if (by == BY_ADD)
      add(batch);
    else if (by == BY_CAS)
      compare_and_swap(batch);
    else if (by == BY_SPIN)
      spin(batch);
    else
      ticket(batch);
    uc_ops(batch);
  }
  loop_end();
}

void uc_finish(unsigned n) { uc_check(*counter == uc_total_ops(n), "increments were lost"); }
