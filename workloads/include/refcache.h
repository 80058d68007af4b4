// Refcache: each hart caches its changes of reference counts; zero is final after two epochs.
//
// Clements, Kaashoek and Zeldovich, "RadixVM" (2013); refcount/refcache.c explains it. A hart adds
// and subtracts in a small cache of its own, with a slot for each object by hash. It flushes a sum
// once per epoch, or when another object needs the slot. The hart that flushes a count to zero puts
// the object on its review queue for two more epochs, longer if the count changes meanwhile.
//
//     refcache_setup(n)
//     refcache_change(id, counted, amount)
//     refcache_tend(id)                  called between two operations: flushes and reviews
//                                        when an epoch has passed
//
// An includer defines refcache_release, which is called for an object whose count is truly zero.
#ifndef UNCORE_REFCACHE_H_
#define UNCORE_REFCACHE_H_

#include "spinlock.h"
#include "uncore.h"

UC_PARAM(duration, epoch, 2000, "ns", "least time between two flushes of a hart");
UC_PARAM(u64, slots, 64, "slots", "size of a hart's cache");

#define REVIEW_AFTER 2  // epochs

struct counted {
  UC_ALIGNED struct spinlock lock;
  bool queued, dirty;  // it is on a review queue; its count has changed since
  int64_t references;  // the count, as far as changes have been flushed
  struct counted* next;
  uint64_t review_epoch;  // the epoch in which to review the object
};

static void refcache_release(struct counted* counted);

static struct refcache_global {
  UC_ALIGNED _Atomic uint64_t epoch;
  UC_ALIGNED _Atomic uint64_t flushes;  // sum over all harts and epochs
}* refcache_global;

struct slot {
  struct counted* counted;
  int64_t delta;
};

static struct refcache {
  UC_ALIGNED struct slot* slots;
  uint64_t flushed;        // number of epochs in which it has flushed
  uint64_t next_flush;     // earliest time of the next flush
  struct counted* review;  // the review queue, as a stack
}* refcaches;
static unsigned refcache_harts;  // read-only

static inline void refcache_setup(unsigned n) {
  uc_require(slots, "slots must be 1 or more");
  refcache_harts = n;
  refcache_global = uc_alloc(sizeof *refcache_global, 0);
  refcaches = uc_alloc(n * sizeof *refcaches, 0);
  for (unsigned id = 0; id < n; id++)
    refcaches[id].slots = uc_alloc(slots * sizeof(struct slot), 0);
}

static inline uint64_t refcache_epoch_now(void) {
  return atomic_load_explicit(&refcache_global->epoch, memory_order_acquire);
}

static inline void refcache_enqueue(struct refcache* hart, struct counted* counted) {
  counted->queued = true;
  counted->dirty = false;
  counted->review_epoch = refcache_epoch_now() + REVIEW_AFTER;
  counted->next = hart->review;
  hart->review = counted;
}

static inline void refcache_evict(struct refcache* hart, struct slot* slot) {
  struct counted* counted = slot->counted;
  if (counted && slot->delta) {
    spin_lock(&counted->lock);
    counted->references += slot->delta;
    if (counted->queued)
      counted->dirty = true;
    else if (counted->references == 0)
      refcache_enqueue(hart, counted);
    spin_unlock(&counted->lock);
  }
  *slot = (struct slot){NULL, 0};
}

static inline void refcache_review(struct refcache* hart, struct counted* counted) {
  spin_lock(&counted->lock);
  counted->queued = false;
  bool zero = counted->references == 0, again = zero && counted->dirty;
  if (again) refcache_enqueue(hart, counted);
  spin_unlock(&counted->lock);
  if (zero && !again) refcache_release(counted);
}

static inline void refcache_review_old_enough(struct refcache* hart) {
  struct counted* queue = hart->review;
  hart->review = NULL;
  while (queue) {
    struct counted* counted = queue;
    queue = queue->next;
    if (counted->review_epoch <= refcache_epoch_now()) {
      refcache_review(hart, counted);
    } else {
      counted->next = hart->review;
      hart->review = counted;
    }
  }
}

// Flushes a hart's cache, once in each epoch. An epoch ends when every hart has flushed in it.
static inline void refcache_flush(struct refcache* hart) {
  for (uint64_t i = 0; i < slots; i++) refcache_evict(hart, &hart->slots[i]);
  hart->flushed++;
  uint64_t flushes =
      atomic_fetch_add_explicit(&refcache_global->flushes, 1, memory_order_acq_rel) + 1;
  if (flushes % refcache_harts == 0)
    atomic_fetch_add_explicit(&refcache_global->epoch, 1, memory_order_release);
}

static inline void refcache_change(unsigned id, struct counted* counted, int64_t amount) {
  struct refcache* hart = &refcaches[id];
  uint64_t hash = (uint64_t)counted / UC_BLOCK * 0x9e3779b97f4a7c15 >> 32;
  struct slot* slot = &hart->slots[hash % slots];
  if (slot->counted != counted) {
    refcache_evict(hart, slot);
    slot->counted = counted;
  }
  slot->delta += amount;
}

static inline void refcache_tend(unsigned id) {
  struct refcache* hart = &refcaches[id];
  uint64_t now = uc_now();
  if (now < hart->next_flush || hart->flushed > refcache_epoch_now()) return;
  hart->next_flush = now + epoch;
  refcache_flush(hart);
  refcache_review_old_enough(hart);
}

#endif  // UNCORE_REFCACHE_H_
