// Epoch-based reclamation: readers announce themselves, an updater frees what none of them can see.
//
// The scheme is that of Fraser, "Practical lock-freedom" (2004), in the form of ConcurrencyKit's
// ck_epoch (Al Bahra); the idea is Kung and Lehman's (1980), and RCU is similar. The code is in
// epoch.h. A reader writes only its own line, so readers scale. The cost moves to the
// updater, which reads one line per hart to advance the epoch, each owned by its reader, so the
// grace period grows with the machine. Here the updater never waits while it has free objects; it
// polls after each update and frees what has become old enough.
//
// Check: as in reclaim.h.
#include "epoch.h"
#include "reclaim.h"

UC_WORKLOAD("Epoch-based reclamation: readers on their own lines, an updater that frees");

static struct epoch* epoch;

static void scheme_setup(unsigned n) { epoch = epoch_make(n, 0); }

static struct object* reader_get(unsigned reader) {
  epoch_enter(epoch, reader);
  return atomic_load_explicit(current, memory_order_acquire);
}

static void reader_put(unsigned reader) { epoch_exit(epoch, reader); }

static void retire(struct deferred* deferred) { epoch_call(epoch, 0, deferred, object_free); }

static void poll(bool wait) {
  if (wait) epoch_wait(epoch);
  epoch_poll(epoch, 0);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  reclaim_run(id);
}
