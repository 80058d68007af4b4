// Many pauses at once, without executing them: what locks spin between two looks.
//
// Sources count pauses, so that the same delay is fifty times as long on a Xeon as on a Zen 1. The
// first thread that needs it measures how long some take; after that, time passes (uc_delay), which
// for siblings is what pauses are: the hart counts as executing, and its pauses take no longer.
#ifndef UNCORE_PAUSES_H_
#define UNCORE_PAUSES_H_

#include "uncore.h"

#define PAUSES_SAMPLE 256

static _Atomic uint64_t pauses_sampled;  // time of PAUSES_SAMPLE pauses, ns; 0: not known yet

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
  uc_delay((pauses - 1) * sample / PAUSES_SAMPLE);  // uc_delay pauses once more
}

#endif  // UNCORE_PAUSES_H_
