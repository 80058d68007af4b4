// Ticket lock: take a number, wait until it is called. It is fair. lock/ticket.c explains it.
#ifndef UNCORE_TICKET_H_
#define UNCORE_TICKET_H_

#include "uncore.h"

struct ticket_lock {
  _Atomic uint32_t next;    // the ticket that the next hart to arrive draws
  _Atomic uint32_t served;  // the ticket of the hart that holds the lock
};

static inline void ticket_acquire(struct ticket_lock* lock) {
  uint32_t ticket = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&lock->served, memory_order_acquire) != ticket) uc_pause();
}

static inline void ticket_release(struct ticket_lock* lock) {
  uint32_t ticket = atomic_load_explicit(&lock->served, memory_order_relaxed);
  atomic_store_explicit(&lock->served, ticket + 1, memory_order_release);
}

// Returns whether a hart waits for the lock. Called by its holder.
static inline bool ticket_contended(struct ticket_lock* lock) {
  uint32_t next = atomic_load_explicit(&lock->next, memory_order_relaxed);
  return next != atomic_load_explicit(&lock->served, memory_order_relaxed) + 1;
}

#endif  // UNCORE_TICKET_H_
