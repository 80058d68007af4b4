// Refcache: each hart caches its changes of a count.
// A count of zero is final only after two epochs.
//
// Clements, Kaashoek and Zeldovich, "RadixVM" (2013). A hart adds and subtracts in its own small
// cache, in a slot for each object by hash, and flushes the sums to the global counts once an epoch
// (`epoch`; 10 ms in RadixVM), or when another object needs the slot. A get and a put on one hart
// within an epoch cancel out without any traffic. So the global count is late, and its zero may be
// false: an increment may still be in some cache while the decrement was flushed. But if a count
// stayed zero while every hart has flushed, twice, it is truly zero. The hart that brings a count
// to zero puts the object on its review queue, where it stays for two more epochs if its count
// changed meanwhile (`dirty`).
//
// It needs no initial holder and serves any object. In return, memory is freed two epochs late,
// which is expensive for objects with short lives.
//
// Besides the shared object each hart uses `others` private objects.
// Their references compete with it for slots.
//
// Check: as in references.h.
#include "refcache.h"

#include "references.h"

UC_WORKLOAD("Refcache: changes cached by each hart, zero believed after two epochs");
UC_PARAM(u64, others, 0, "objects", "further objects that each hart gets and puts in turn");

static struct counted* shared_object;

static struct hart {
  UC_ALIGNED struct counted* others;  // the hart's private objects
  uint64_t turn;                      // number of operations; selects the next private object
  uint64_t drain_until;               // epoch by which all objects must have been reviewed
}* harts;

static struct drain {
  UC_ALIGNED _Atomic bool over;  // set when harts need not flush any more
}* drain;

static void count_setup(unsigned n) {
  refcache_setup(n);
  shared_object = uc_alloc(sizeof *shared_object, (unsigned)object_node);
  shared_object->references = n;
  drain = uc_alloc(sizeof *drain, 0);
  harts = uc_alloc(n * sizeof *harts, 0);
  for (unsigned id = 0; id < n; id++) {
    harts[id].others = uc_alloc(others * sizeof(struct counted), 0);
    for (uint64_t i = 0; i < others; i++) harts[id].others[i].references = 1;  // keeps it
  }
}

static void refcache_release(struct counted* counted) {
  if (counted == shared_object) object_release();
}

static void change_both(unsigned id, int64_t amount) {
  struct hart* hart = &harts[id];
  refcache_change(id, shared_object, amount);
  if (others) refcache_change(id, &hart->others[hart->turn % others], amount);
}

static void count_get(unsigned id) { change_both(id, 1); }

static void count_put(unsigned id) {
  change_both(id, -1);
  harts[id].turn++;
}

static void count_tend(unsigned id) { refcache_tend(id); }

// Waits for the object's release for a few epochs, which are enough for any true zero. All harts
// stop together, because an epoch ends only when all have flushed.
static bool count_drain(unsigned id) {
  struct hart* hart = &harts[id];
  if (!hart->drain_until) hart->drain_until = refcache_epoch_now() + 4 * REVIEW_AFTER;
  count_tend(id);
  if (!alive() || hart->drain_until <= refcache_epoch_now())
    atomic_store_explicit(&drain->over, true, memory_order_relaxed);
  uc_delay(epoch / 8 + 1);
  return atomic_load_explicit(&drain->over, memory_order_relaxed);
}

static bool count_is_zero(void) { return shared_object->references == 0; }
