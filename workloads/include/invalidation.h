// FreeBSD's delayed invalidation (DI, in its amd64 pmap): mappings are removed within an interval.
// Before the page of a removed mapping may be reused, all intervals that were open at the removal
// must have ended. There are two ways to know which are open:
//
//   mutex  a list with generation numbers, under one global mutex, which every removal takes twice:
//          FreeBSD 11 and 12.0 (pmap_delayed_invl_started, pmap_delayed_invl_finished)
//   epoch  an interval is a section of an epoch: a private store at its beginning and its end.
//          Macy's experiment of May 2018, not in a release
//
// A generation is over when all intervals up to it have ended. Waiters sleep on a turnstile. The
// thread that ends the oldest interval locks the turnstile's chain while it holds the mutex.
#ifndef UNCORE_INVALIDATION_H_
#define UNCORE_INVALIDATION_H_

#include "epoch.h"
#include "mtx.h"

enum invalidation { DI_MUTEX, DI_EPOCH, DI_NONE };
#ifndef INVALIDATION
#define INVALIDATION DI_MUTEX
#endif
UC_PARAM(choice, invalidation, INVALIDATION, "mutex|epoch|none",
         "how open intervals of removal are known; none: the system has no such intervals");

// A task's interval. Open intervals are in a list, the youngest first.
struct interval {
  UC_ALIGNED _Atomic uint64_t generation;
  struct interval *next, *previous;
};

static struct intervals {
  UC_ALIGNED struct mtx lock;
  struct interval *youngest, *oldest;
  _Atomic uint64_t over;
  UC_ALIGNED struct mtx chain;
}* intervals;
static struct interval* interval_of;
static struct epoch* epoch;

static inline void interval_setup(unsigned n) {
  mtx_setup(n);
  intervals = uc_alloc(sizeof *intervals, 0);
  interval_of = uc_alloc(n * sizeof *interval_of, 0);
  epoch = epoch_make(n, 0);
}

static inline uint64_t interval_generation(struct interval* interval) {
  return atomic_load_explicit(&interval->generation, memory_order_relaxed);
}

static inline void interval_number(struct interval* interval, uint64_t generation) {
  atomic_store_explicit(&interval->generation, generation, memory_order_relaxed);
}

static __attribute__((noinline)) void interval_enlist(struct interval* self) {
  mtx_lock(&intervals->lock);
  struct interval* youngest = intervals->youngest;
  uint64_t over = atomic_load_explicit(&intervals->over, memory_order_relaxed);
  interval_number(self, (youngest ? interval_generation(youngest) : over) + 1);
  self->next = youngest;
  self->previous = NULL;
  if (youngest)
    youngest->previous = self;
  else
    intervals->oldest = self;
  intervals->youngest = self;
  mtx_unlock(&intervals->lock);
}

// Ends a generation. Its waiters (interval_await) poll in this model, so none has to be woken.
static inline void interval_generation_ends(uint64_t generation) {
  mtx_lock_spin(&intervals->chain);
  atomic_store_explicit(&intervals->over, generation, memory_order_release);
  mtx_unlock_spin(&intervals->chain);
}

// If this is the oldest interval, its generation ends. Otherwise the next older interval takes over
// its generation, so that this generation ends when that interval does.
static __attribute__((noinline)) void interval_delist(struct interval* self) {
  mtx_lock(&intervals->lock);
  struct interval *older = self->next, *younger = self->previous;
  if (older)
    interval_number(older, interval_generation(self));
  else
    interval_generation_ends(interval_generation(self));
  *(younger ? &younger->next : &intervals->youngest) = older;
  *(older ? &older->previous : &intervals->oldest) = younger;
  mtx_unlock(&intervals->lock);
}

static inline void interval_begin(unsigned id) {
  if (invalidation == DI_EPOCH)
    epoch_enter(epoch, id);
  else if (invalidation == DI_MUTEX && !UC_SABOTAGE)
    interval_enlist(&interval_of[id]);
}

static inline void interval_end(unsigned id) {
  if (invalidation == DI_EPOCH)
    epoch_exit(epoch, id);
  else if (invalidation == DI_MUTEX && !UC_SABOTAGE)
    interval_delist(&interval_of[id]);
}

// Returns when all intervals that were open in a generation have ended.
static inline void interval_await(uint64_t generation) {
  if (invalidation == DI_EPOCH) epoch_wait(epoch);
  if (invalidation != DI_MUTEX || UC_SABOTAGE) return;
  while (atomic_load_explicit(&intervals->over, memory_order_acquire) < generation) uc_pause();
}

#endif  // UNCORE_INVALIDATION_H_
