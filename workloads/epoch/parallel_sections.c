// Parallel sections: reclamation by time, with a clock that all processors read alike.
//
// Wang, Stamler and Parmer, "Parallel sections: scaling system-level data-structures" (2016). On
// entering, a reader writes the time to a line of its own; no epoch is shared, for the clock is one
// already and reading it moves no line. What was retired at time t is out of reach when every
// reader is outside or entered after t. The updater remembers the latest such time of each reader,
// so it reads a reader's line again only for objects younger than that: one visit serves all that
// was retired before it, and an updater who is in no hurry (`age`) seldom disturbs anybody.
//
// Check: as in reclaim.h.
#include "reclaim.h"

UC_WORKLOAD("Parallel sections: reclamation by the time at which readers entered");
UC_PARAM(duration, age, 500, "ns", "the updater looks for readers of an object when it is so old");

static struct reader {
  UC_ALIGNED _Atomic uint64_t entered;  // time of entry plus one; 0: outside
}* readers;
static unsigned harts;

static struct limbo {
  struct deferred_list waiting;
  uint64_t quiet[];  // per reader: it holds nothing that was retired before this time
}* limbo;

static void scheme_setup(unsigned n) {
  readers = uc_alloc(n * sizeof *readers, 0);
  limbo = uc_alloc(sizeof *limbo + n * sizeof limbo->quiet[0], 0);
  harts = n;
}

// ---- Readers ------------------------------------------------------------------------------------

static struct object* reader_get(unsigned reader) {
  if (!UC_SABOTAGE) {
    atomic_store_explicit(&readers[reader].entered, uc_now() + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);  // the entry is visible before any read
  }
  return atomic_load_explicit(current, memory_order_acquire);
}

static void reader_put(unsigned reader) {
  atomic_store_explicit(&readers[reader].entered, 0, memory_order_release);
}

// ---- The updater --------------------------------------------------------------------------------

static void retire(struct deferred* deferred) {
  atomic_thread_fence(memory_order_seq_cst);  // unlinked before the time is taken
  deferred->stamp = uc_now();
  deferred_append(&limbo->waiting, deferred);
}

// True if no reader holds objects retired at this time. Checks only readers not known to be quiet.
static bool quiet_since(uint64_t time) {
  for (unsigned hart = 0; hart < harts; hart++) {
    if (limbo->quiet[hart] > time) continue;
    uint64_t before = uc_now();
    uint64_t entered = atomic_load_explicit(&readers[hart].entered, memory_order_acquire);
    limbo->quiet[hart] = entered ? entered - 1 : before;
    if (limbo->quiet[hart] <= time) return false;
  }
  return true;
}

static void poll(bool wait) {
  struct deferred* oldest;
  while ((oldest = limbo->waiting.first)) {
    if (!wait && oldest->stamp + age > uc_now()) return;
    if (!quiet_since(oldest->stamp)) return;
    object_free(deferred_take(&limbo->waiting));
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  reclaim_run(id);
}
