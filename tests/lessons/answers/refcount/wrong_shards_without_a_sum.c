// Each complex has a counter, which may be zero while the object is in use elsewhere.
#include "references.h"

UC_WORKLOAD("Reference count in one atomic word: get, use, put by every hart");

static struct {
  UC_ALIGNED _Atomic uint64_t references;
}* counts;

static void count_setup(unsigned n) {
  counts = uc_alloc(4 * sizeof *counts, (unsigned)object_node);
  for (unsigned k = 0; k < n; k++) counts[k / 8 % 4].references++;
}

static void count_get(unsigned id) {
  (void)id;
  uint64_t before =
      atomic_fetch_add_explicit(&counts[id / 8 % 4].references, 1, memory_order_relaxed);
  uc_check(before > 0, "a reference was taken to an object without any");
}

static void count_put(unsigned id) {
  (void)id;
  if (atomic_fetch_sub_explicit(&counts[id / 8 % 4].references, 1, memory_order_acq_rel) == 1)
    object_release();
}

static void count_tend(unsigned id) { (void)id; }

static bool count_drain(unsigned id) {
  (void)id;
  return true;
}

static bool count_is_zero(void) { return counts[0].references == 0; }
