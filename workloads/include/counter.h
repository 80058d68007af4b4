// The common part of counter/atomic and counter/cas: every hart increments one counter again and
// again. A workload includes this header and defines the function declared below.
#ifndef UNCORE_COUNTER_H_
#define UNCORE_COUNTER_H_

#include "loop.h"
#include "uncore.h"

UC_PARAM(duration, think, 0, "ns", "time between two additions");
UC_PARAM(u64, counter_node, 0, "node", "memory node of the counter's line");

static _Atomic uint64_t* counter;

static void add_one(void);

void uc_setup(unsigned n) {
  (void)n;
  counter = uc_alloc(sizeof *counter, (unsigned)counter_node);
}

static void add_and_lose(void) {
  uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
  uc_delay(think);  // other harts add during this time, and their additions get lost
  atomic_store_explicit(counter, seen + 1, memory_order_relaxed);
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    if (UC_SABOTAGE)
      add_and_lose();
    else
      add_one();
    uc_op();
    uc_delay(think);
  }
  loop_end();
}

void uc_finish(unsigned n) { uc_check(*counter == uc_total_ops(n), "additions were lost"); }

#endif  // UNCORE_COUNTER_H_
