// Harts read one line, one after the other. Then hart 0 writes it.
//
// Check: no reader sees the write.
#include "uncore.h"

UC_WORKLOAD("Readers of one line, one after the other, and then one writer");
UC_PARAM(u64, start, 1000000, "ns", "when the first reads; later than any start-up");
UC_PARAM(u64, step, 4000, "ns", "from one to the next");
UC_PARAM(u64, readers, 4, "harts", "that read: spread over all but hart 0");

static uint64_t* word;

void uc_setup(unsigned n) {
  uc_require(readers < n, "readers must be fewer than the harts");
  word = uc_alloc(sizeof *word, 0);
}

// Returns the position of the hart among the readers, or 0 if it is none.
static uint64_t turn_of(unsigned id, unsigned n) {
  for (uint64_t k = 0; k < readers; k++)
    if (id == 1 + k * (n - 1) / readers) return k + 1;
  return 0;
}

void uc_main(unsigned id, unsigned n) {
  const uint64_t turn = id ? turn_of(id, n) : readers + 1;
  if (!turn) return;
  // Both are read before the loop, so that only the word itself is accessed after it.
  const uint64_t when = start + turn * step;
  uint64_t* const shared = word;
  while (uc_now() < when) {
  }
  if (id)
    uc_check(*(volatile uint64_t*)shared == 0, "a reader saw a write that comes later");
  else
    __atomic_fetch_add(shared, 1, __ATOMIC_RELAXED);
  uc_ops(1);
}
