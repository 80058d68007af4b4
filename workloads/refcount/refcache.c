// Refcache: each hart caches the changes it makes to a count, and zero is believed after two
// epochs.
//
// Clements, Kaashoek and Zeldovich, "RadixVM" (2013). A hart adds and subtracts in a small cache of
// its own, a slot for each object by hash, and flushes the sums to the global counts once an epoch
// (`epoch`; 10 ms in RadixVM), or when another object wants the slot. A get and a put on one hart
// within an epoch cancel out and nobody hears of them. So the global count is late, and its zero
// may be false: an increment may rest in some cache while the decrement was flushed. But after
// every hart has flushed, twice, a count that has stayed zero throughout was truly zero. The hart
// that brings a count to zero puts the object on its review queue, where it stays for two more
// epochs if its count changed meanwhile (`dirty`).
//
// It needs no initial holder and serves any object; in return, space is freed two epochs late,
// which is much for what comes and goes quickly.
//
// Besides the object each hart uses `others`, objects of its own whose references compete for
// slots.
//
// Check: as in references.h.
#include "references.h"
#include "spinlock.h"

UC_WORKLOAD("Refcache: changes cached by each hart, zero believed after two epochs");
UC_PARAM(duration, epoch, 2000, "ns", "least time between two flushes of a hart");
UC_PARAM(u64, slots, 64, "slots", "size of a hart's cache");
UC_PARAM(u64, others, 0, "objects", "further objects that each hart gets and puts in turn");

#define REVIEW_AFTER 2  // epochs

struct counted {
  UC_ALIGNED struct spinlock lock;
  bool queued, dirty;  // on a review queue; changed since
  int64_t references;  // as far as flushed
  bool shared;         // the object of references.h, whose release is observed
  struct counted* next;
  uint64_t review_epoch;  // when to look again
};

static struct counted* shared_object;

static struct global {
  UC_ALIGNED _Atomic uint64_t epoch;
  UC_ALIGNED _Atomic uint64_t flushes;  // sum over all harts and epochs
  UC_ALIGNED _Atomic bool drained;      // harts need not flush any more
}* global;

struct slot {
  struct counted* counted;
  int64_t delta;
};

static struct hart {
  UC_ALIGNED struct slot* slots;
  uint64_t flushed;        // epochs
  uint64_t next_flush;     // time
  struct counted* review;  // a stack
  struct counted* others;  // its further objects
  uint64_t turn;           // which of them is next
  uint64_t drain_until;    // the epoch in which everything must have been reviewed
}* harts;
static unsigned count;  // of harts; read-only

static void count_setup(unsigned n) {
  uc_require(slots, "slots must be 1 or more");
  count = n;
  shared_object = uc_alloc(sizeof *shared_object, (unsigned)object_node);
  shared_object->references = n;
  shared_object->shared = true;
  global = uc_alloc(sizeof *global, 0);
  harts = uc_alloc(n * sizeof *harts, 0);
  for (unsigned id = 0; id < n; id++) {
    harts[id].slots = uc_alloc(slots * sizeof(struct slot), 0);
    harts[id].others = uc_alloc(others * sizeof(struct counted), 0);
    for (uint64_t i = 0; i < others; i++) harts[id].others[i].references = 1;  // its home's
  }
}

// ---- Flushing -----------------------------------------------------------------------------------

static uint64_t epoch_now(void) {
  return atomic_load_explicit(&global->epoch, memory_order_acquire);
}

static void enqueue(struct hart* hart, struct counted* counted) {
  counted->queued = true;
  counted->dirty = false;
  counted->review_epoch = epoch_now() + REVIEW_AFTER;
  counted->next = hart->review;
  hart->review = counted;
}

static void evict(struct hart* hart, struct slot* slot) {
  struct counted* counted = slot->counted;
  if (counted && slot->delta) {
    spin_lock(&counted->lock);
    counted->references += slot->delta;
    if (counted->queued)
      counted->dirty = true;
    else if (counted->references == 0)
      enqueue(hart, counted);
    spin_unlock(&counted->lock);
  }
  *slot = (struct slot){NULL, 0};
}

static void review(struct hart* hart, struct counted* counted) {
  spin_lock(&counted->lock);
  counted->queued = false;
  bool zero = counted->references == 0, again = zero && counted->dirty;
  if (again) enqueue(hart, counted);
  spin_unlock(&counted->lock);
  if (zero && !again && counted->shared) object_release();
}

static void review_old_enough(struct hart* hart) {
  struct counted* queue = hart->review;
  hart->review = NULL;
  while (queue) {
    struct counted* counted = queue;
    queue = queue->next;
    if (counted->review_epoch <= epoch_now()) {
      review(hart, counted);
    } else {
      counted->next = hart->review;
      hart->review = counted;
    }
  }
}

// Flushes once in each epoch; an epoch ends when every hart has flushed in it.
static void flush(struct hart* hart) {
  for (uint64_t i = 0; i < slots; i++) evict(hart, &hart->slots[i]);
  hart->flushed++;
  uint64_t flushes = atomic_fetch_add_explicit(&global->flushes, 1, memory_order_acq_rel) + 1;
  if (flushes % count == 0) atomic_fetch_add_explicit(&global->epoch, 1, memory_order_release);
}

// ---- The scheme ---------------------------------------------------------------------------------

static void change(struct hart* hart, struct counted* counted, int64_t by) {
  uint64_t hash = (uint64_t)counted / UC_BLOCK * 0x9e3779b97f4a7c15 >> 32;
  struct slot* slot = &hart->slots[hash % slots];
  if (slot->counted != counted) {
    evict(hart, slot);
    slot->counted = counted;
  }
  slot->delta += by;
}

static void change_both(struct hart* hart, int64_t by) {
  change(hart, shared_object, by);
  if (others) change(hart, &hart->others[hart->turn % others], by);
}

static void count_get(unsigned id) { change_both(&harts[id], 1); }

static void count_put(unsigned id) {
  change_both(&harts[id], -1);
  harts[id].turn++;
}

static void count_tend(unsigned id) {
  struct hart* hart = &harts[id];
  uint64_t now = uc_now();
  if (now < hart->next_flush || hart->flushed > epoch_now()) return;
  hart->next_flush = now + epoch;
  flush(hart);
  review_old_enough(hart);
}

// Some epochs are enough for any true zero; if the release does not come then, it never will. All
// stop together: an epoch ends only when everybody has flushed.
static bool count_drain(unsigned id) {
  struct hart* hart = &harts[id];
  if (!hart->drain_until) hart->drain_until = epoch_now() + 4 * REVIEW_AFTER;
  count_tend(id);
  if (!alive() || hart->drain_until <= epoch_now())
    atomic_store_explicit(&global->drained, true, memory_order_relaxed);
  uc_delay(epoch / 8 + 1);
  return atomic_load_explicit(&global->drained, memory_order_relaxed);
}

static bool count_is_zero(void) { return shared_object->references == 0; }
