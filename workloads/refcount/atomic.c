// A reference count in one atomic word: the last put releases the object.
//
// Collins (1960) invented reference counting. On a multiprocessor the count is one atomic word in
// the object, so taking a reference moves the object's line, although it changes nothing for the
// other harts: readers of a busy object scale no better than writers. Every get and every put is an
// ownership transfer; Linux's counts in struct file, dentry and page all had this limit. In return,
// zero is known at once: the release follows the last put immediately.
//
// Check: as in references.h.
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
  uint64_t before = atomic_fetch_add_explicit(&count->references, 1, memory_order_relaxed);
  uc_check(before > 0, "a reference was taken to an object without any");
}

static void count_put(unsigned id) {
  (void)id;
  if (atomic_fetch_sub_explicit(&count->references, 1, memory_order_acq_rel) == 1) object_release();
}

static void count_tend(unsigned id) { (void)id; }

static bool count_drain(unsigned id) {
  (void)id;
  return true;
}

static bool count_is_zero(void) { return count->references == 0; }
