// A count raised and lowered by atomic additions, with nothing behind it.
//
// The least that two threads can do to each other: each get and each put is one fetch-and-add on
// one line. Where the owner of a line completes what it has begun before it answers, an addition
// under contention costs less than half of a handoff, and the same at any number of threads; so
// this is what a compare-and-swap loop (refcount/lockref.c) or a lock has to be held against.
#include "get_put.h"

UC_WORKLOAD("Reference count by atomic additions: the count's line is all that is shared");

static uint32_t count_get(struct count* count) {
  return atomic_fetch_add_explicit(&count->references, 1, memory_order_acquire) + 1;
}

static void count_put(struct count* count) {
  atomic_fetch_sub_explicit(&count->references, 1, memory_order_release);
}
