// FreeBSD's lockmgr(9), the lock of files and buffers: shared or exclusive. Holders may sleep,
// waiters never spin. An exclusive holder may lock again or downgrade, a shared one may upgrade.
// lock/lockmgr.c explains it; shared_lock.h has the code of the two modes.
#ifndef UNCORE_LOCKMGR_H_
#define UNCORE_LOCKMGR_H_

#include "shared_lock.h"

enum lockmgr_request { LK_SHARED, LK_EXCLUSIVE, LK_UPGRADE, LK_DOWNGRADE, LK_RELEASE };

struct lockmgr {
  struct shared_lock lock;
  unsigned depth;  // how often the exclusive holder has locked again; only the holder reads it
};

#define LK_POLICY ((struct shared_policy){.spins = false, .lends = false, .writers_first = false})

static inline void lockmgr_init(struct lockmgr* lk, unsigned n) { shared_setup(&lk->lock, n); }

static inline bool lockmgr_exclusive(struct lockmgr* lk) {
  return shared_writer(shared_word(&lk->lock)) == uc_thread_self();
}

// Upgrades a shared holder. Returns true if that was atomic, because it was the only reader; else
// others may have held the lock in between, so the caller must read its data again.
static inline bool lockmgr_upgrade(struct lockmgr* lk) {
  uintptr_t word = shared_word(&lk->lock);
  if (shared_readers(word) == 1 && shared_take(&lk->lock, LK_POLICY, word)) return true;
  shared_read_unlock(&lk->lock, LK_POLICY);
  shared_write_lock(&lk->lock, LK_POLICY);
  return false;
}

// Turns the exclusive holder into a shared one, and admits all shared waiters.
static inline void lockmgr_downgrade(struct lockmgr* lk) {
  const void* channel = shared_channel(&lk->lock, SHARED_READ_WAITERS);
  uc_sleepq_lock(channel);
  uintptr_t stay = shared_word(&lk->lock) & SHARED_WRITE_WAITERS;
  atomic_store_explicit(&lk->lock.word, SHARED_ONE_READER | SHARED_READ | stay,
                        memory_order_release);
  uc_sleepq_broadcast(channel);
  uc_sleepq_release(channel);
}

static inline void lockmgr_release(struct lockmgr* lk) {
  if (!lockmgr_exclusive(lk))
    shared_read_unlock(&lk->lock, LK_POLICY);
  else if (lk->depth > 0)
    lk->depth--;
  else
    shared_write_unlock(&lk->lock, LK_POLICY);
}

// Performs a request. Returns false only for an upgrade that was not atomic.
static inline bool lockmgr(struct lockmgr* lk, enum lockmgr_request request) {
  switch (request) {
    case LK_SHARED:
      shared_read_lock(&lk->lock, LK_POLICY);
      break;
    case LK_EXCLUSIVE:
      if (lockmgr_exclusive(lk))
        lk->depth++;
      else
        shared_write_lock(&lk->lock, LK_POLICY);
      break;
    case LK_UPGRADE:
      return lockmgr_upgrade(lk);
    case LK_DOWNGRADE:
      lockmgr_downgrade(lk);
      break;
    case LK_RELEASE:
      lockmgr_release(lk);
      break;
  }
  return true;
}

#endif  // UNCORE_LOCKMGR_H_
