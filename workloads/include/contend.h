// Harts contend for a lock: everything the lock workloads share except the lock.
//
// Each hart takes the lock, is alone for `hold`, lets it go and stays away for `think`. What the
// lock guards is a line of its own, written by each owner, as the data of a real critical section.
//
// A lock's file includes this header first and defines the three functions declared below.
//
// Check: the guarded line has no owner when a hart enters, still has it when the hart leaves, and
// its plain (not atomic) count of entries ends at the number of operations.
#ifndef UNCORE_CONTEND_H_
#define UNCORE_CONTEND_H_

#include "loop.h"
#include "uncore.h"

UC_PARAM(duration, hold, 0, "ns", "time inside the critical section");
UC_PARAM(duration, think, 0, "ns", "time outside, after each release");
UC_PARAM(u64, lock_node, 0, "node", "memory node of the lock and of what it guards");

static void lock_setup(unsigned n);
static void lock_acquire(unsigned id);
static void lock_release(unsigned id);

// Volatile, so that each access is made; not atomic, because the lock is what makes them safe.
static struct guarded {
  UC_ALIGNED volatile uint64_t entries;
  volatile uint64_t owner;  // hart plus one; 0 while nobody is inside
}* guarded;

void uc_setup(unsigned n) {
  guarded = uc_alloc(sizeof *guarded, (unsigned)lock_node);
  lock_setup(n);
}

static void critical_section(unsigned id) {
  uc_check(guarded->owner == 0, "entered while another hart was inside");
  guarded->owner = id + 1;
  uint64_t entries = guarded->entries;
  uc_delay(hold);
  guarded->entries = entries + 1;
  uc_check(guarded->owner == id + 1, "another hart entered meanwhile");
  guarded->owner = 0;
}

static void operation(unsigned id) {
  uc_start();
  if (!UC_SABOTAGE) lock_acquire(id);
  critical_section(id);
  if (!UC_SABOTAGE) lock_release(id);
  uc_op();
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    operation(id);
    uc_delay(think);
  }
  loop_end();
}

void uc_finish(unsigned n) {
  uc_check(guarded->entries == uc_total_ops(n), "entries to the critical section were lost");
}

#endif  // UNCORE_CONTEND_H_
