// Linux's lockref as x86 compiles it: a failed compare-and-swap returns the word that it found.
//
// So the next attempt needs no further load (refcount/lockref.c reads the word again). Until
// Linux 6.3 a failed attempt was followed by a pause, as in a loop that waits. But there is nothing
// to wait for: the failed compare-and-swap has fetched the line, and during a pause other cores
// take it. Guzik (2023) removed the pause and found up to four times as many operations.
//
// Linux gives up after a hundred attempts and takes the lock; this model never does.
#include "get_put.h"

UC_WORKLOAD("Linux's lockref on x86: a failed attempt tells what to expect, paused or not");
UC_PARAM(bool, pause, 1, "", "pause after a failed attempt, as until Linux 6.2");

// Adds `amount` to the references and returns their new number.
static uint32_t change(struct count* count, uint32_t amount) {
  uint32_t seen = atomic_load_explicit(&count->references, memory_order_relaxed);
  while (!atomic_compare_exchange_strong_explicit(&count->references, &seen, seen + amount,
                                                  memory_order_acq_rel, memory_order_relaxed))
    if (pause) uc_pause();
  return seen + amount;
}

static uint32_t count_get(struct count* count) { return change(count, 1); }

static void count_put(struct count* count) { change(count, -1u); }
