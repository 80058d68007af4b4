// References are not counted, so the object is never released.
#include "references.h"

UC_WORKLOAD("Reference count in one atomic word: get, use, put by every hart");

static struct {
  UC_ALIGNED _Atomic uint64_t references;
}* count;

static void count_setup(unsigned n) {
  count = uc_alloc(sizeof *count, (unsigned)object_node);
  count->references = n;
}

static void count_get(unsigned id) {
  (void)id;
  (void)count;
}

static void count_put(unsigned id) { (void)id; }

static void count_tend(unsigned id) { (void)id; }

static bool count_drain(unsigned id) {
  (void)id;
  return true;
}

static bool count_is_zero(void) { return count->references == 0; }
