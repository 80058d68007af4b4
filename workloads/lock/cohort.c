// Cohort lock: neighbours pass the lock among themselves before it travels.
//
// Dice, Marathe and Shavit, "Lock cohorting" (2012). Two levels of locks: whoever wants in takes
// the lock of its cohort (the harts around one cache, or one socket), then the global one. To
// release, it looks whether somebody of its cohort waits; if so it hands on the local lock and says
// that the global one comes with it. The lock and what it guards then stay in one cache for a batch
// of critical sections, where a fair lock, serving in order of arrival, sends them across the
// machine every time. The batch is bounded, for fairness.
//
// Both levels are ticket locks here, the authors' C-TKT-TKT: a ticket lock shows whether anybody
// waits, and its global one may be released by another hart than took it. Compact placement puts
// harts with neighbouring numbers side by side, so `cohort` is the number of harts around a cache.
#include "contend.h"
#include "ticket.h"

UC_WORKLOAD("NUMA-aware cohort lock: handed on among neighbours in batches");
UC_PARAM(u64, cohort, 4, "harts", "harts with neighbouring numbers that form a cohort; 0: all");
UC_PARAM(u64, batch, 64, "handoffs", "handoffs within a cohort before the lock must move on");

struct lock {  // the global one
  UC_ALIGNED struct ticket_lock ticket;
};

static struct local {
  UC_ALIGNED struct ticket_lock ticket;
  // State that only the owner of `ticket` touches.
  bool owns_global;   // the global lock came with the local one
  uint64_t handoffs;  // since the cohort took the global lock
}* locals;
static uint64_t members;  // harts of a cohort

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
