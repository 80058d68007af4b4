// One counter, incremented by everybody with compare-and-swap until it succeeds.
//
// What counter/atomic.c does, as one must write it where the machine lacks the operation: read,
// compute, and swap if nobody was faster. Herlihy (1991) showed that compare-and-swap can do
// what no fetch-and-add can; the price is that of several who try only one succeeds. A failed
// attempt tells the newest value, which the next one starts from.
//
// Check: the counter ends at the number of additions.
#include "counter.h"

UC_WORKLOAD("One shared counter, incremented by every hart with compare-and-swap");

static void add_one(void) {
  uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
  while (!atomic_compare_exchange_strong_explicit(counter, &seen, seen + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
  }
}
