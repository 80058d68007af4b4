// Harts that share nothing: each sums and rewrites its own array, which fits into its L1 cache.
//
// This measures the interpreter with the fast path of the caches. With many harts it also measures
// the cost of switching between harts, none of which ever waits for another.
#include "uncore.h"

UC_WORKLOAD("Private data: every hart works on an array of its own");
UC_PARAM(u64, rounds, 400, "", "passes over the array");

#define WORDS 512

static uint64_t* arrays[UC_MAX_HARTS];

void uc_setup(unsigned n) {
  for (unsigned h = 0; h < n; h++) arrays[h] = uc_alloc(WORDS * sizeof(uint64_t), 0);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  volatile uint64_t* own = arrays[id];
  uint64_t sum = 0;
  uc_barrier();
  uc_roi(true);
  for (uint64_t round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < WORDS; i++) {
      sum += own[i] ^ round;
      own[i] = sum;
    }
    uc_op();
  }
  uc_roi(false);
}
