// No lock: shows the cost of the other workloads of this folder without their locks.
//
// Measurements of locks subtract this cost, or report it too. No data is guarded, because several
// harts are inside at the same time.
#define CONTEND_GUARDED 0
#include "contend.h"

UC_WORKLOAD("No lock: what the measuring itself costs");

static struct lock* lock_setup(unsigned n) {
  (void)n;
  uc_check(!guarded_lines, "guarded: without a lock nobody is alone; write guarded=0");
  return NULL;
}

static void lock_acquire(struct lock* lock, unsigned id) { (void)lock, (void)id; }
static void lock_release(struct lock* lock, unsigned id) { (void)lock, (void)id; }
