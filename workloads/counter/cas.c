// One counter, incremented by everybody with compare-and-swap until it succeeds.
//
// What counter/atomic.c does, as one must write it where the operation is none the machine has:
// read, compute, and swap if nobody was faster. Herlihy (1991) showed that compare-and-swap can do
// what no fetch-and-add can; the price is that of several who try only one succeeds. A failed
// attempt tells the newest value, which the next one starts from.
//
// Check: the counter ends at the number of additions.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("One shared counter, incremented by every hart with compare-and-swap");
UC_PARAM(duration, think, 0, "ns", "time between two additions");
UC_PARAM(u64, counter_node, 0, "node", "memory node of the counter's line");

static _Atomic uint64_t* counter;

void uc_setup(unsigned n) {
  (void)n;
  counter = uc_alloc(sizeof *counter, (unsigned)counter_node);
}

static void add_one(void) {
  uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
  if (UC_SABOTAGE) {
    uc_delay(think);  // meanwhile others add, and their additions get lost
    atomic_store_explicit(counter, seen + 1, memory_order_relaxed);
    return;
  }
  while (!atomic_compare_exchange_strong_explicit(counter, &seen, seen + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    add_one();
    uc_op();
    uc_delay(think);
  }
  loop_end();
}

void uc_finish(unsigned n) { uc_check(*counter == uc_total_ops(n), "additions were lost"); }
