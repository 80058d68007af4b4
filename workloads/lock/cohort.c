// Cohort lock: nearby harts pass the lock among themselves before it moves on.
//
// Dice, Marathe and Shavit, "Lock cohorting" (2012). There are two levels of locks: a hart takes
// the lock of its cohort (the harts around one cache, or one socket), then the global one. On
// release, if a hart of the cohort waits, the owner hands on the local lock and the global one with
// it. The lock and its data then stay in one cache for a batch of critical sections, while a fair
// lock, which serves in order of arrival, sends them across the machine each time. The batch is
// bounded, for fairness.
//
// Both levels are ticket locks here, the authors' C-TKT-TKT: a ticket lock shows whether a hart
// waits, and may be released by another hart than the one that took it. Compact placement puts
// harts with neighbouring numbers together, so `cohort` is the number of harts around a cache.
#include "contend.h"
#include "ticket.h"

UC_WORKLOAD("NUMA-aware cohort lock: handed on among neighbours in batches");
UC_PARAM(u64, cohort, 4, "harts", "harts with neighbouring numbers that form a cohort; 0: all");
UC_PARAM(u64, batch, 64, "handoffs", "handoffs within a cohort before the lock must move on");

struct lock {  // the global lock
  UC_ALIGNED struct ticket_lock ticket;
};

static struct local {
  UC_ALIGNED struct ticket_lock ticket;
  // State that only the owner of `ticket` touches.
  bool owns_global;   // the global lock came with the local one
  uint64_t handoffs;  // handoffs since the cohort took the global lock
}* locals;
static uint64_t members;  // number of harts in a cohort

static struct lock* lock_setup(unsigned n) {
  members = cohort ? cohort : n;
  locals = uc_alloc((n / members + 1) * sizeof *locals, (unsigned)lock_node);
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* global, unsigned id) {
  struct local* local = &locals[id / members];
  ticket_acquire(&local->ticket);
  if (local->owns_global) return;
  ticket_acquire(&global->ticket);
  local->owns_global = true;
  local->handoffs = 0;
}

static void lock_release(struct lock* global, unsigned id) {
  struct local* local = &locals[id / members];
  if (!ticket_contended(&local->ticket) || local->handoffs++ >= batch) {
    local->owns_global = false;
    ticket_release(&global->ticket);
  }
  ticket_release(&local->ticket);
}
