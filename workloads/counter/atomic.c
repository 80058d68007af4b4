// One counter, incremented by everybody with one atomic instruction.
//
// The oldest shared object and the floor of every scaling curve: no lock, no loop, one line that
// must visit each hart in turn. Fetch-and-add was first described by Gottlieb and Kruskal for the
// NYU Ultracomputer (1981), whose network combined the additions on their way; today's machines
// either move the line to the core (near atomics: x86, most RISC-V) or send the addition to the
// slice that owns the line (far atomics: Arm LSE). Under contention the rate is one addition per
// ownership transfer, times the additions a core gets done before the line is taken away.
//
// Check: the counter ends at the number of additions.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("One shared counter, incremented by every hart with an atomic add");
UC_PARAM(duration, think, 0, "ns", "time between two additions");
UC_PARAM(u64, counter_node, 0, "node", "memory node of the counter's line");

static _Atomic uint64_t* counter;

void uc_setup(unsigned n) {
  (void)n;
  counter = uc_alloc(sizeof *counter, (unsigned)counter_node);
}

static void add_one(void) {
  if (!UC_SABOTAGE) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    return;
  }
  uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
  uc_delay(think);  // meanwhile others add, and their additions get lost
  atomic_store_explicit(counter, seen + 1, memory_order_relaxed);
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
