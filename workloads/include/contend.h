// The common part of the lock workloads, without the lock itself: harts contend for a lock.
//
// Each hart takes the lock, holds it for `hold`, releases it and stays away for `think`. The lock
// guards `guarded` lines, which each owner writes like the data of a real critical section. With
// `guarded` = 0 harts share only the lines of the lock itself, so that the bare lock is measured.
//
// A lock's file includes this header first and defines the three functions declared below.
//
// Check: the first guarded line names no owner when a hart enters, and names this hart when it
// leaves; each line's plain (not atomic) count of entries ends at the number of turns. If nothing
// is guarded, mutual exclusion is not checked.
#ifndef UNCORE_CONTEND_H_
#define UNCORE_CONTEND_H_

#include "turns.h"
#include "uncore.h"

#ifndef CONTEND_GUARDED
#define CONTEND_GUARDED 1
#endif

UC_PARAM(u64, lock_node, 0, "node", "memory node of the lock and of what it guards");
UC_OPTION(u64, guarded_lines, guarded, CONTEND_GUARDED, "lines",
          "lines that each owner writes; 0: none, and mutual exclusion is not checked");

struct lock;
static struct lock* lock_setup(unsigned n);
static void lock_acquire(struct lock* lock, unsigned id);
static void lock_release(struct lock* lock, unsigned id);

static struct lock* lock;  // a hart reads it once, and then keeps the address in a register

// Volatile, so that the compiler keeps each access; not atomic, because the lock protects them.
static struct guarded {
  UC_ALIGNED volatile uint64_t entries;
  volatile uint64_t owner;  // hart plus one; 0 while no hart is inside
}* guarded;

void uc_setup(unsigned n) {
  guarded = uc_alloc(guarded_lines * sizeof *guarded, (unsigned)lock_node);
  lock = lock_setup(n);
}

// Only the first line has an owner. The others stand for further data of the critical section.
UC_SPECIALISED void critical_section(unsigned id, bool usual) {
  uc_check(guarded->owner == 0, "entered while another hart was inside");
  guarded->owner = id + 1;
  uint64_t entries = guarded->entries;
  for (uint64_t k = 1; !usual && k < guarded_lines; k++) guarded[k].entries++;
  turns_pass(hold, usual);
  guarded->entries = entries + 1;
  uc_check(guarded->owner == id + 1, "another hart entered meanwhile");
  guarded->owner = 0;
}

UC_SPECIALISED void turns_one(void* shared, unsigned id, bool usual) {
  if (!UC_SABOTAGE) lock_acquire(shared, id);
  if (usual || guarded_lines)
    critical_section(id, usual);
  else
    turns_pass(hold, usual);
  if (!UC_SABOTAGE) lock_release(shared, id);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  turns(lock, id, guarded_lines == 1);
}

void uc_finish(unsigned n) {
  for (uint64_t k = 0; k < guarded_lines; k++)
    uc_check(guarded[k].entries == uc_total_ops(n), "entries to the critical section were lost");
}

#endif  // UNCORE_CONTEND_H_
