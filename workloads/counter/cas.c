// One counter, incremented by all harts with compare-and-swap until it succeeds.
//
// This is counter/atomic.c for machines that lack the atomic add: read, compute, and swap if the
// counter has not changed meanwhile. Herlihy (1991) showed that compare-and-swap can do what no
// fetch-and-add can; the price is that of several attempts at a time only one succeeds. A failed
// attempt returns the newest value, from which the next one starts.
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
