// FreeBSD's rwlock(9): many readers or one writer, none of which may sleep while inside. Waiters
// spin while the writer runs, then sleep on a turnstile and lend the writer their priority; a
// waiting writer keeps new readers out. lock/rwlock.c explains it, shared_lock.h has the code.
#ifndef UNCORE_RWLOCK_H_
#define UNCORE_RWLOCK_H_

#include "shared_lock.h"

struct rwlock {
  struct shared_lock lock;
};

#define RW_POLICY ((struct shared_policy){.spins = true, .lends = true, .writers_first = true})

static inline void rw_init(struct rwlock* rw, unsigned n) { shared_setup(&rw->lock, n); }
static inline void rw_rlock(struct rwlock* rw) { shared_read_lock(&rw->lock, RW_POLICY); }
static inline void rw_runlock(struct rwlock* rw) { shared_read_unlock(&rw->lock, RW_POLICY); }

// Called by a reader. Returns false, and the reader stays one, if there are other readers.
static inline bool rw_try_upgrade(struct rwlock* rw) {
  uintptr_t word = shared_word(&rw->lock);
  return shared_readers(word) == 1 && shared_take(&rw->lock, RW_POLICY, word);
}

static inline void rw_wlock(struct rwlock* rw) { shared_write_lock(&rw->lock, RW_POLICY); }
static inline void rw_wunlock(struct rwlock* rw) { shared_write_unlock(&rw->lock, RW_POLICY); }

#endif  // UNCORE_RWLOCK_H_
