// One counter that every hart increments as fast as it can, with nothing in between.
//
// The loop of the public benchmarks of contended atomics: a fixed number of increments, by one
// fetch-and-add whose result is not used, or by the classical retry loop, which loads the counter
// once and then tries compare-and-swap until nobody came between: a failed attempt returns the
// value that it found, which the next one expects. How many harts wait for the line decides the
// rate of both; how long a core keeps it, whether an attempt ever finds what it expects.
//
// counter/atomic and counter/cas do the same with a clock and a marker around each operation, which
// is right to ask for latencies, and hides what a line can bear.
//
// Check: the counter ends at the number of increments.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("One shared counter, incremented by every hart without pause, by add or by retry");
enum { BY_ADD, BY_CAS };
UC_PARAM(choice, by, BY_ADD, "add|cas", "one fetch-and-add, or compare-and-swap until it succeeds");
UC_PARAM(u64, batch, 25, "operations", "increments between two looks at the clock");
UC_PARAM(u64, counter_node, 0, "node", "memory node of the counter's line");

static _Atomic uint64_t* counter;

void uc_setup(unsigned n) {
  (void)n;
  counter = uc_alloc(sizeof *counter, (unsigned)counter_node);
  atomic_store_explicit(counter, 0, memory_order_relaxed);  // a single hart has the line
}

static void add(uint64_t times) {
  for (; times; times--) atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void compare_and_swap(uint64_t times) {
  for (; times; times--) {
    uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(counter, &seen, seen + 1, memory_order_relaxed,
                                                    memory_order_relaxed)) {
    }
  }
}

static void lose(uint64_t times) {
  for (; times; times--) {
    uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
    uc_delay(10);  // meanwhile others add, and their additions get lost
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
    else
      compare_and_swap(batch);
    uc_ops(batch);
  }
  loop_end();
}

void uc_finish(unsigned n) { uc_check(*counter == uc_total_ops(n), "increments were lost"); }
