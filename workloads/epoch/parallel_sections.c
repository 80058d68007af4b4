// Parallel sections: reclamation by time, with a clock that is the same for all processors.
//
// Wang, Stamler and Parmer, "Parallel sections: scaling system-level data-structures" (2016). On
// entry a reader writes the time to its own line. No epoch is shared: the clock takes its place,
// and reading it moves no line. An object retired at time t is unreachable once every reader is
// outside or has entered after t. The updater remembers the latest such t of each reader, and reads
// its line again only for objects retired later. So one read serves all objects retired before it,
// and an updater that waits first (`age`) seldom disturbs readers.
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
  uint64_t quiet[];  // per reader: it holds no object that was retired before this time
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
  atomic_thread_fence(memory_order_seq_cst);  // the object is unlinked before the time is read
  deferred->stamp = uc_now();
  deferred_append(&limbo->waiting, deferred);
}

// Returns true if no reader can hold an object retired at `time`. Reads a line only if it must.
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
