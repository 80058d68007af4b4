// FreeBSD's sx(9): shared or exclusive, and holders may sleep. Waiters spin while an exclusive
// holder runs, then block on sleep queues. They lend no priority, which a sleeping holder could not
// use. When an exclusive holder leaves, shared waiters go first. lock/sx.c explains it, and
// shared_lock.h has the code.
#ifndef UNCORE_SX_H_
#define UNCORE_SX_H_

#include "shared_lock.h"

struct sx {
  struct shared_lock lock;
};

#define SX_POLICY ((struct shared_policy){.spins = true, .lends = false, .writers_first = false})

static inline void sx_init(struct sx* sx, unsigned n) { shared_setup(&sx->lock, n); }
static inline void sx_slock(struct sx* sx) { shared_read_lock(&sx->lock, SX_POLICY); }
static inline void sx_sunlock(struct sx* sx) { shared_read_unlock(&sx->lock, SX_POLICY); }
static inline void sx_xlock(struct sx* sx) { shared_write_lock(&sx->lock, SX_POLICY); }
static inline void sx_xunlock(struct sx* sx) { shared_write_unlock(&sx->lock, SX_POLICY); }

#endif  // UNCORE_SX_H_
