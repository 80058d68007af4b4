// Epoch-based reclamation, in the shape of ConcurrencyKit's ck_epoch and FreeBSD's epoch(9).
//
// There is a global epoch. A reader copies it to a record of its own when it enters a section and
// clears the record when it leaves, so it writes nothing shared. The epoch is advanced only when
// every active record has the current one. So no reader can see an object retired two epochs ago.
//
//     epoch_make(n, node)              makes n records; a record serves one reader at a time
//     epoch_enter, epoch_exit          begin and end a section; sections of one record may nest
//     epoch_wait                       returns when all sections open at the call have ended
//     epoch_call(..., callback)        has epoch_poll run the callback once they have ended
//     epoch_poll                       advances if no reader lags, runs callbacks that are due
//
// A record is used by one hart or one thread at a time. Any number of them may retire, wait and
// poll at the same time, but none may wait inside a section. epoch/freebsd_preempt.c builds the
// preemptible kind on this one.
#ifndef UNCORE_EPOCH_H_
#define UNCORE_EPOCH_H_

#include "deferred.h"

#define EPOCH_GRACE 2  // number of epoch advances after which no reader can reach a retired object

struct epoch_record {
  UC_ALIGNED _Atomic uint64_t announced;  // 2 * epoch of the entry + 1; 0: outside a section
  uint64_t depth;
  UC_ALIGNED struct deferred_list pending;  // objects retired here, oldest first
};

struct epoch {
  UC_ALIGNED _Atomic uint64_t now;
  UC_ALIGNED unsigned records;
  struct epoch_record* record;
};

static inline struct epoch* epoch_make(unsigned n, unsigned node) {
  struct epoch* epoch = uc_alloc(sizeof *epoch, node);
  epoch->record = uc_alloc(n * sizeof *epoch->record, node);
  epoch->records = n;
  return epoch;
}

static inline uint64_t epoch_now(struct epoch* epoch) {
  return atomic_load_explicit(&epoch->now, memory_order_relaxed);
}

static inline void epoch_announce(struct epoch* epoch, struct epoch_record* record) {
  if (UC_SABOTAGE) return;  // sabotage: not announced, so objects may be freed while in use
  uint64_t entered = 2 * epoch_now(epoch) + 1;
  atomic_store_explicit(&record->announced, entered, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);  // announce the section before any read in it
}

static inline void epoch_enter(struct epoch* epoch, unsigned id) {
  struct epoch_record* record = &epoch->record[id];
  if (record->depth++ == 0) epoch_announce(epoch, record);
}

static inline void epoch_exit(struct epoch* epoch, unsigned id) {
  struct epoch_record* record = &epoch->record[id];
  if (--record->depth == 0) atomic_store_explicit(&record->announced, 0, memory_order_release);
}

// ---- Updaters -----------------------------------------------------------------------------------

static inline bool epoch_lags(struct epoch* epoch, unsigned id, uint64_t now) {
  uint64_t announced = atomic_load_explicit(&epoch->record[id].announced, memory_order_acquire);
  return announced && announced != 2 * now + 1;
}

// Advances the epoch from `now`, unless another hart has done so.
static inline void epoch_step(struct epoch* epoch, uint64_t now) {
  atomic_compare_exchange_strong_explicit(&epoch->now, &now, now + 1, memory_order_acq_rel,
                                          memory_order_relaxed);
}

// Advances the epoch unless a reader lags.
static inline bool epoch_advance(struct epoch* epoch) {
  uint64_t now = epoch_now(epoch);
  atomic_thread_fence(memory_order_seq_cst);  // objects are unlinked before we look at readers
  for (unsigned id = 0; id < epoch->records; id++)
    if (epoch_lags(epoch, id, now)) return false;
  epoch_step(epoch, now);
  return true;
}

static inline void epoch_wait(struct epoch* epoch) {
  atomic_thread_fence(memory_order_seq_cst);
  uint64_t goal = epoch_now(epoch) + EPOCH_GRACE;
  for (uint64_t now; (now = epoch_now(epoch)) < goal; epoch_step(epoch, now)) {
    atomic_thread_fence(memory_order_seq_cst);
    for (unsigned id = 0; id < epoch->records; id++)
      while (epoch_lags(epoch, id, now)) uc_pause();
  }
}

static inline void epoch_call(struct epoch* epoch, unsigned id, struct deferred* deferred,
                              void (*callback)(struct deferred* deferred)) {
  atomic_thread_fence(memory_order_seq_cst);  // the object is unlinked before the epoch is read
  deferred->stamp = epoch_now(epoch);
  deferred->callback = callback;
  deferred_append(&epoch->record[id].pending, deferred);
}

static inline void epoch_poll(struct epoch* epoch, unsigned id) {
  struct deferred_list* pending = &epoch->record[id].pending;
  epoch_advance(epoch);
  while (pending->first && pending->first->stamp + EPOCH_GRACE <= epoch_now(epoch))
    deferred_run(deferred_take(pending));
}

#endif  // UNCORE_EPOCH_H_
