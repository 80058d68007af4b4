// A count incremented and decremented by atomic additions; no object is released.
//
// This is the cheapest possible contention: each get and each put is one fetch-and-add on one line.
// If a line's owner completes its pending additions before it gives the line up, a contended
// addition costs less than half of a handoff, at any number of threads. So a compare-and-swap loop
// (refcount/lockref.c) or a lock should be compared with this.
#include "get_put.h"

UC_WORKLOAD("Reference count by atomic additions: the count's line is all that is shared");

static uint32_t count_get(struct count* count) {
  return atomic_fetch_add_explicit(&count->references, 1, memory_order_acquire) + 1;
}

static void count_put(struct count* count) {
  atomic_fetch_sub_explicit(&count->references, 1, memory_order_release);
}
