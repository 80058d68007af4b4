// A count changed by compare-and-swap, as Linux's lockref does it.
//
// Torvalds and Long (2013) put a lock and a count into one word, so that a reference is taken
// without the lock: read the word, and if the lock is free swap in the word with the count changed.
// An addition always succeeds; a compare-and-swap succeeds only if no other hart wrote the word
// since the read, and each failed one has moved the line in vain. The rate of failures depends on
// how long a core keeps a line, and on distances: a socket that has the line may keep it from the
// other socket for long.
//
// The lock is never taken here. A failed attempt reads the word again.
#include "get_put.h"

UC_WORKLOAD("Linux's lockref: a reference count changed by compare-and-swap");

// Adds `amount` to the references and returns their new number.
static uint32_t change(struct count* count, uint32_t amount, memory_order order) {
  for (;;) {
    uint32_t before = atomic_load_explicit(&count->references, memory_order_relaxed);
    if (atomic_compare_exchange_strong_explicit(&count->references, &before, before + amount, order,
                                                memory_order_relaxed))
      return before + amount;
  }
}

static uint32_t count_get(struct count* count) { return change(count, 1, memory_order_acquire); }

static void count_put(struct count* count) { change(count, -1u, memory_order_release); }
