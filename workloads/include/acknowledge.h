// Acknowledgements of many harts to the hart that interrupted them: by one counter that all of them
// contend for, or by a word each, which the waiting hart fetches line by line.
//
//     acknowledge_setup(n, how)          in uc_setup; `how` is the workload's parameter
//     acknowledge_expect(harts)          before a round with this number of harts is announced
//     acknowledge_give(round)            by each hart, in its interrupt handler
//     acknowledge_await(harts, round)    waits until all harts of this set have acknowledged
//
// There is one round at a time; rounds are numbered from 1.
#ifndef UNCORE_ACKNOWLEDGE_H_
#define UNCORE_ACKNOWLEDGE_H_

#include "cpuset.h"
#include "uncore.h"

enum acknowledge { ACKNOWLEDGE_COUNTER, ACKNOWLEDGE_WORDS };

static struct acknowledgements {
  UC_ALIGNED uint64_t how, harts;       // constant while harts run
  UC_ALIGNED _Atomic uint64_t missing;  // ACKNOWLEDGE_COUNTER: harts yet to acknowledge
  struct acknowledged {
    UC_ALIGNED _Atomic uint64_t round;  // ACKNOWLEDGE_WORDS: last round that it acknowledged
  } of[];
}* acknowledgements;

static inline void acknowledge_setup(unsigned n, uint64_t how) {
  acknowledgements = uc_alloc(sizeof *acknowledgements + n * sizeof(struct acknowledged), 0);
  acknowledgements->how = how;
  acknowledgements->harts = n;
}

static inline void acknowledge_expect(uint64_t harts) {
  atomic_store_explicit(&acknowledgements->missing, harts, memory_order_relaxed);
}

static inline void acknowledge_give(uint64_t round) {
  if (acknowledgements->how == ACKNOWLEDGE_COUNTER)
    atomic_fetch_sub_explicit(&acknowledgements->missing, 1, memory_order_release);
  else
    atomic_store_explicit(&acknowledgements->of[uc_id()].round, round, memory_order_release);
}

static inline void acknowledge_await(const struct uc_cpuset* harts, uint64_t round) {
  struct acknowledgements* all = acknowledgements;
  if (all->how == ACKNOWLEDGE_COUNTER)
    while (atomic_load_explicit(&all->missing, memory_order_acquire)) uc_pause();
  else
    for (unsigned hart = 0; hart < all->harts; hart++)
      while (uc_cpuset_has(harts, hart) &&
             atomic_load_explicit(&all->of[hart].round, memory_order_acquire) != round)
        uc_pause();
}

#endif  // UNCORE_ACKNOWLEDGE_H_
