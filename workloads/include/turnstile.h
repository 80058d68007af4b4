// Turnstiles: sleep queues whose sleepers lend their priority to the lock's owner.
//
// Solaris has them (Mauro and McDougall, 2001), and FreeBSD: turnstile(9). Without lending, an
// urgent thread that waits for a lock waits for every thread more urgent than the lock's owner:
// priority inversion, which stopped the Mars Pathfinder in 1997. So a thread that blocks raises the
// owner to its own priority, then the owner of the lock that this owner waits for, and so on. At
// unlock the owner falls back to what the waiters of its other locks still lend it.
//
// FreeBSD threads bring turnstiles with them to keep locks one word long; here each lock has its
// own. A turnstile's sleepers are those of the lock's channels (thread.h), and all functions are
// called with the chain's lock held. Invariant, under `turnstile_lending`: a thread's priority is
// the most urgent of its own priority and the urgencies of its contested turnstiles.
#ifndef UNCORE_TURNSTILE_H_
#define UNCORE_TURNSTILE_H_

#include "spinlock.h"
#include "thread.h"

struct turnstile {
  struct uc_thread* owner;  // gets at least `urgency` as priority; null: none, or readers
  struct turnstile* next;   // in the owner's list of contested turnstiles
  unsigned urgency;         // the most urgent sleeper's priority; may be outdated after a wake-up
};

// One lock for the whole machine, as FreeBSD's td_contested_lock, because lending walks from lock
// to lock. Interrupts are already off, because a chain's lock is held.
static struct spinlock* turnstile_lending;

static inline void turnstile_setup(void) {
  if (!turnstile_lending) turnstile_lending = uc_alloc(sizeof *turnstile_lending, 0);
}

static inline void turnstile_own(struct turnstile* turnstile, struct uc_thread* owner) {
  if (turnstile->owner == owner) return;
  turnstile->owner = owner;
  if (!owner) return;
  turnstile->next = owner->contested;
  owner->contested = turnstile;
}

static inline void turnstile_lend(struct turnstile* turnstile, unsigned urgency) {
  for (; turnstile; turnstile = turnstile->owner->blocked) {
    if (urgency < turnstile->urgency) turnstile->urgency = urgency;
    if (!turnstile->owner) return;
    if (atomic_load_explicit(&turnstile->owner->priority, memory_order_relaxed) <= urgency) return;
    uc_thread_lend(turnstile->owner, urgency);
  }
}

// Sleeps on `channel` and lends to `owner` unless that is null. Returns without the chain's lock.
static inline void turnstile_wait(struct turnstile* turnstile, const void* channel,
                                  struct uc_thread* owner) {
  struct uc_thread* self = uc_thread_self();
  spin_lock(turnstile_lending);
  if (!turnstile->owner) {
    turnstile->urgency = UC_PRIORITY_IDLE;
    turnstile_own(turnstile, owner);
  }
  self->blocked = turnstile;
  turnstile_lend(turnstile, atomic_load_explicit(&self->priority, memory_order_relaxed));
  spin_unlock(turnstile_lending);
  uc_sleepq_wait(channel);

  spin_lock(turnstile_lending);
  self->blocked = NULL;
  spin_unlock(turnstile_lending);
}

// Makes this thread the owner although other threads wait; these lend to it from now on.
static inline void turnstile_claim(struct turnstile* turnstile) {
  struct uc_thread* self = uc_thread_self();
  spin_lock(turnstile_lending);
  turnstile_own(turnstile, self);
  turnstile_lend(turnstile, turnstile->urgency);
  spin_unlock(turnstile_lending);
}

static inline void turnstile_disown(struct turnstile* turnstile) {
  struct uc_thread* self = turnstile->owner;
  unsigned priority = self->own_priority;
  for (struct turnstile** at = &self->contested; *at;) {
    if (*at == turnstile) {
      *at = turnstile->next;
      continue;
    }
    if ((*at)->urgency < priority) priority = (*at)->urgency;
    at = &(*at)->next;
  }
  turnstile->owner = NULL;
  uc_thread_lend(self, priority);
}

// Ends the loans to the owner, and wakes all sleepers of a channel or, with `one`, the most urgent.
// Returns the number of threads woken.
static inline unsigned turnstile_wake(struct turnstile* turnstile, const void* channel, bool one) {
  spin_lock(turnstile_lending);
  if (turnstile->owner) turnstile_disown(turnstile);
  spin_unlock(turnstile_lending);
  return one ? uc_sleepq_signal(channel) : uc_sleepq_broadcast(channel);
}

#endif  // UNCORE_TURNSTILE_H_
