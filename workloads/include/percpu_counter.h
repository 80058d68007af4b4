// A counter with one part per hart: an addition is a private store, an exact reading reads every
// part.
//
// Kernels use it for counts that change often and are read seldom: FreeBSD's counter(9), Linux's
// percpu_counter (Molnar and Zhang 2004), "sloppy counters" (Boyd-Wickizer et al. 2010). A part
// that reaches `batch` is added to a common total, under a spin lock in the line of the total, as
// in Linux, and starts at 0 again: it is folded. So the total alone is right to within n * batch.
// With batch 0 no part is ever folded.
//
//     make     makes a part for each of n harts, `distance` bytes apart (parts may share a line)
//     add      adds to a part; called by its owner only
//     total    reads the total, by one load: right to within n * batch
//     sum      adds up all parts: exact if no hart adds meanwhile
#ifndef UNCORE_PERCPU_COUNTER_H_
#define UNCORE_PERCPU_COUNTER_H_

#include "queued_lock.h"
#include "uncore.h"

// The address of the parts is on the line of the lock and the total, as in Linux's struct
// percpu_counter, so an addition reads the line that a folding hart writes.
struct percpu_counter {
  UC_ALIGNED union queued_lock lock;
  _Atomic int64_t total;  // sum of the parts folded so far
  uint64_t distance;
  unsigned parts;
  UC_ALIGNED struct queue_node* waiting;  // the lock's queue node of each hart
  UC_ALIGNED _Atomic int64_t first;       // part 0; the others follow
};

static inline struct percpu_counter* percpu_counter_make(unsigned n, uint64_t distance,
                                                         unsigned node) {
  struct percpu_counter* counter = uc_alloc(sizeof *counter + n * distance, node);
  counter->distance = distance;
  counter->parts = n;
  counter->waiting = uc_alloc(n * sizeof *counter->waiting, node);
  return counter;
}

static inline _Atomic int64_t* percpu_counter_part(struct percpu_counter* counter, unsigned id) {
  return &counter->first + id * counter->distance / sizeof counter->first;
}

// Adds a part to the total. Like Linux's percpu_counter_add_batch it holds the lock while it
// reduces the part and loads the part's address again (fbc->counters, in the line of the lock). It
// is not inlined, so that it does not affect the code of callers that never fold.
static __attribute__((noinline)) void percpu_counter_fold(struct percpu_counter* counter,
                                                          unsigned id, int64_t amount,
                                                          int64_t added) {
  queue_lock(&counter->lock, counter->waiting, id);
  int64_t total = atomic_load_explicit(&counter->total, memory_order_relaxed);
  atomic_store_explicit(&counter->total, total + amount, memory_order_relaxed);
  _Atomic int64_t* part = percpu_counter_part(counter, id);
  int64_t sum = atomic_load_explicit(part, memory_order_relaxed);
  atomic_store_explicit(part, sum - (amount - added), memory_order_relaxed);
  queue_unlock(&counter->lock);
}

static inline void percpu_counter_add(struct percpu_counter* counter, unsigned id, int64_t amount,
                                      int64_t batch) {
  _Atomic int64_t* part = percpu_counter_part(counter, id);
  int64_t sum = atomic_load_explicit(part, memory_order_relaxed) + amount;
  if (batch && (sum >= batch || sum <= -batch))
    percpu_counter_fold(counter, id, sum, amount);
  else
    atomic_store_explicit(part, sum, memory_order_relaxed);
}

static inline int64_t percpu_counter_total(struct percpu_counter* counter) {
  return atomic_load_explicit(&counter->total, memory_order_relaxed);
}

static inline int64_t percpu_counter_sum(struct percpu_counter* counter) {
  int64_t sum = percpu_counter_total(counter);
  for (unsigned id = 0; id < counter->parts; id++)
    sum += atomic_load_explicit(percpu_counter_part(counter, id), memory_order_relaxed);
  return sum;
}

#endif  // UNCORE_PERCPU_COUNTER_H_
