// Lets the time of many pauses pass without executing each: the back-off of locks.
//
// Locks count their back-off in pauses, so the same count takes fifty times as long on a Xeon as on
// a Zen 1. The first thread that needs it measures the time of some pauses. After that, uc_delay
// lets this time pass, during which the hart counts as executing, as it does while it pauses.
#ifndef UNCORE_PAUSES_H_
#define UNCORE_PAUSES_H_

#include "uncore.h"

#define PAUSES_SAMPLE 256

static _Atomic uint64_t pauses_sampled;  // time of PAUSES_SAMPLE pauses in ns; 0: not measured

static inline uint64_t pauses_sample(void) {
  uint64_t before = uc_now();
  for (unsigned i = 0; i < PAUSES_SAMPLE; i++) uc_pause();
  uint64_t took = uc_now() - before;
  atomic_store_explicit(&pauses_sampled, took, memory_order_relaxed);
  return took;
}

static inline void uc_pauses(uint64_t pauses) {
  if (pauses <= 1) {
    if (pauses) uc_pause();
    return;
  }
  uint64_t sample = atomic_load_explicit(&pauses_sampled, memory_order_relaxed);
  if (sample == 0) sample = pauses_sample();
  uc_delay((pauses - 1) * sample / PAUSES_SAMPLE);  // uc_delay itself ends with one pause
}

#endif  // UNCORE_PAUSES_H_
