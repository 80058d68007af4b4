// Hazard pointers: a reader publishes which object it uses, and that one is not freed.
//
// Michael, "Hazard pointers: safe memory reclamation for lock-free objects" (2004). A reader writes
// the pointer it is about to use to a line of its own, and then checks that it is still current;
// only then is the object protected. That is a fence and a second load per object, where an epoch
// pays once for any number. In return, a reader that stays long or stops holds back one object and
// not all: the number of unfreed objects is bounded. The updater collects retired objects in a
// private list; when it has `batch`, it reads every reader's line and frees the unnamed ones.
//
// Check: as in reclaim.h.
#include "reclaim.h"

UC_WORKLOAD("Hazard pointers: readers name what they use, the updater frees the rest");
UC_PARAM(u64, batch, 8, "objects", "retired before the updater scans the readers");

static struct reader {
  UC_ALIGNED _Atomic(struct object*) hazard;
}* readers;
static unsigned harts;

static struct limbo {
  struct deferred_list waiting;
  uint64_t length, scans;
}* limbo;

static void scheme_setup(unsigned n) {
  readers = uc_alloc(n * sizeof *readers, 0);
  limbo = uc_alloc(sizeof *limbo, 0);
  harts = n;
}

// ---- Readers ------------------------------------------------------------------------------------

static struct object* reader_get(unsigned reader) {
  _Atomic(struct object*)* hazard = &readers[reader].hazard;
  struct object *object, *again = atomic_load_explicit(current, memory_order_acquire);
  if (UC_SABOTAGE) return again;  // sabotage: not published, so it may be freed while in use
  do {
    object = again;
    atomic_store_explicit(hazard, object, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);  // publish the pointer, then check the object
    again = atomic_load_explicit(current, memory_order_acquire);
  } while (again != object);
  return object;
}

static void reader_put(unsigned reader) {
  atomic_store_explicit(&readers[reader].hazard, NULL, memory_order_release);
}

// ---- The updater --------------------------------------------------------------------------------

// Marks with the number of this scan each object that a reader names. Michael sorts the
// hazard pointers and searches them; a word in the object does the same in one step.
static void mark_hazards(uint64_t scan) {
  atomic_thread_fence(memory_order_seq_cst);  // objects are unlinked before we look at readers
  for (unsigned hart = 0; hart < harts; hart++) {
    struct object* object = atomic_load_explicit(&readers[hart].hazard, memory_order_acquire);
    if (object) object->deferred.stamp = scan;
  }
}

static void free_unmarked(uint64_t scan) {
  struct deferred_list all = limbo->waiting;
  limbo->waiting.first = NULL;
  limbo->length = 0;
  for (struct deferred* old; (old = deferred_take(&all));) {
    if (old->stamp == scan)
      retire(old);
    else
      object_free(old);
  }
}

static void retire(struct deferred* deferred) {
  deferred_append(&limbo->waiting, deferred);
  limbo->length++;
}

static void poll(bool wait) {
  if (!wait && limbo->length < batch) return;
  uint64_t scan = ++limbo->scans;
  mark_hazards(scan);
  free_unmarked(scan);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  reclaim_run(id);
}
