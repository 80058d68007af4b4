// PostgreSQL's lightweight locks: shared or exclusive, with a queue of processes that sleep
// (lwlock.c), and the spin locks and semaphores of which they are made.
//
//   spin    up to 9.4: a spin lock guards the lock's fields, so even a shared lock that is free of
//           writers takes it twice, and readers wait for each other. A process that finds it taken
//           tries a hundred times, more if that helped of late, then sleeps for a millisecond
//           (s_lock.c)
//   atomic  since 9.5: one word counts readers and says that there is a writer; a reader changes it
//           by compare-and-swap. The spin lock guards only the queue (A. Freund, commit ab5194e6f)
//
// A release wakes the writer at the queue's head, or the readers there, and no more until one of
// them has run. Who was woken competes again, so a running process may take the lock before it.
//
// Locks stand in one array, `lwlock_bytes` apart: two in a line of 64 bytes up to 9.5.
#ifndef UNCORE_LWLOCK_H_
#define UNCORE_LWLOCK_H_

#include "scheduler.h"
#include "spinlock.h"
#include "uncore.h"

enum lwlock_kind { LWLOCK_SPIN, LWLOCK_ATOMIC };
UC_PARAM(choice, lwlock, LWLOCK_SPIN, "spin|atomic", "how a lightweight lock is taken");
UC_PARAM(u64, lwlock_bytes, 32, "bytes", "from one lightweight lock to the next: 32 or more");
UC_PARAM(duration, nap, 1000000, "ns", "sleep of who has spun in vain for a spin lock");

#define SPINS_LEAST 10
#define SPINS_FIRST 100
#define SPINS_MOST 1000

enum lwlock_mode { SHARED, EXCLUSIVE };

// The part of a process that lightweight locks use.
struct waiter {
  UC_ALIGNED uint64_t semaphore;
  _Atomic bool waiting;
  enum lwlock_mode mode;
  struct waiter* next;
  uint64_t spins;  // tries before a nap
};

struct lwlock {
  _Atomic uint32_t state;  // lwlock=atomic
  struct spinlock mutex;
  uint32_t shared;  // lwlock=spin: readers
  bool exclusive;   // lwlock=spin: a writer
  bool release_ok;  // lwlock=spin: a release may wake somebody
  struct waiter* head;
  struct waiter* tail;
};

#define LW_EXCLUSIVE (UINT32_C(1) << 24)  // below: the number of readers
#define LW_HELD (2 * LW_EXCLUSIVE - 1)
#define LW_RELEASE_OK (UINT32_C(1) << 29)
#define LW_HAS_WAITERS (UINT32_C(1) << 30)

// ---- Spin locks and semaphores ------------------------------------------------------------------

// Each waiter learns: a nap makes it try less often the next time, and success more often.
static __attribute__((noinline)) void s_lock(struct spinlock* lock, struct waiter* self) {
  uint64_t tries = 0, naps = 0;
  while (!spin_trylock(lock)) {
    uc_pause();
    if (++tries < self->spins) continue;
    uc_delay(nap);
    naps++;
    tries = 0;
  }
  if (naps)
    self->spins = self->spins > SPINS_LEAST ? self->spins - 1 : SPINS_LEAST;
  else
    self->spins = self->spins + 100 < SPINS_MOST ? self->spins + 100 : SPINS_MOST;
}

static inline void spin_acquire(struct spinlock* lock, struct waiter* self) {
  if (!spin_trylock(lock)) s_lock(lock, self);
}

static inline void semaphore_wait(struct waiter* self) {
  uc_sleepq_lock(&self->semaphore);
  while (!self->semaphore) {
    uc_sleepq_wait(&self->semaphore);
    uc_sleepq_lock(&self->semaphore);
  }
  self->semaphore--;
  uc_sleepq_release(&self->semaphore);
}

static inline void semaphore_post(struct waiter* waiter) {
  uc_sleepq_lock(&waiter->semaphore);
  waiter->semaphore++;
  uc_sleepq_signal(&waiter->semaphore);
  uc_sleepq_release(&waiter->semaphore);
}

// ---- The queue, with the lock's mutex held ------------------------------------------------------

static inline bool is_waiting(struct waiter* waiter) {
  return atomic_load_explicit(&waiter->waiting, memory_order_acquire);
}

static inline void queue_append(struct lwlock* lock, struct waiter* self, enum lwlock_mode mode) {
  atomic_store_explicit(&self->waiting, true, memory_order_relaxed);
  self->mode = mode;
  self->next = NULL;
  *(lock->head ? &lock->tail->next : &lock->head) = self;
  lock->tail = self;
}

// Takes the processes to be woken from the head: a writer, or all readers before the next writer.
static inline struct waiter* queue_take(struct lwlock* lock) {
  struct waiter *first = lock->head, *last = first;
  if (!first) return NULL;
  while (last->mode == SHARED && last->next && last->next->mode == SHARED) last = last->next;
  lock->head = last->next;
  last->next = NULL;
  return first;
}

// Removes a process that no longer wants to wait. Returns false if it has been taken out before.
static inline bool queue_remove(struct lwlock* lock, struct waiter* self) {
  struct waiter* before = NULL;
  for (struct waiter* at = lock->head; at; before = at, at = at->next) {
    if (at != self) continue;
    *(before ? &before->next : &lock->head) = self->next;
    if (lock->tail == self) lock->tail = before;
    return true;
  }
  return false;
}

static inline void wake(struct waiter* list) {
  while (list) {
    struct waiter* next = list->next;
    list->next = NULL;
    atomic_store_explicit(&list->waiting, false, memory_order_release);
    semaphore_post(list);
    list = next;
  }
}

// Sleeps until a release has taken this process from the queue. Other uses of the semaphore wake
// it, too; such wake-ups are given back in the end.
static inline void sleep_until_woken(struct waiter* self) {
  uint64_t extra = 0;
  for (;; extra++) {
    semaphore_wait(self);
    if (!is_waiting(self)) break;
  }
  while (extra--) semaphore_post(self);
}

// ---- lwlock=spin --------------------------------------------------------------------------------

static inline bool fields_take(struct lwlock* lock, enum lwlock_mode mode) {
  if (lock->exclusive || (mode == EXCLUSIVE && lock->shared)) return false;
  if (mode == EXCLUSIVE)
    lock->exclusive = true;
  else
    lock->shared++;
  return true;
}

static inline void spin_lwlock_acquire(struct lwlock* lock, struct waiter* self,
                                       enum lwlock_mode mode) {
  spin_acquire(&lock->mutex, self);
  while (!fields_take(lock, mode)) {
    queue_append(lock, self, mode);
    spin_unlock(&lock->mutex);
    sleep_until_woken(self);
    spin_acquire(&lock->mutex, self);
    lock->release_ok = true;
  }
  spin_unlock(&lock->mutex);
}

static inline void spin_lwlock_release(struct lwlock* lock, struct waiter* self) {
  struct waiter* woken = NULL;
  spin_acquire(&lock->mutex, self);
  if (lock->exclusive)
    lock->exclusive = false;
  else
    lock->shared--;
  if (lock->head && !lock->exclusive && !lock->shared && lock->release_ok) {
    woken = queue_take(lock);
    lock->release_ok = false;
  }
  spin_unlock(&lock->mutex);
  wake(woken);
}

// ---- lwlock=atomic ------------------------------------------------------------------------------

// Takes the lock if it is free; otherwise writes the word unchanged, as 9.5 does.
static inline bool state_take(struct lwlock* lock, enum lwlock_mode mode) {
  uint32_t old = atomic_load_explicit(&lock->state, memory_order_relaxed);
  for (;;) {
    bool is_free = !(old & (mode == EXCLUSIVE ? LW_HELD : LW_EXCLUSIVE));
    uint32_t wanted = old + (!is_free ? 0 : mode == EXCLUSIVE ? LW_EXCLUSIVE : 1);
    if (atomic_compare_exchange_strong_explicit(&lock->state, &old, wanted, memory_order_acq_rel,
                                                memory_order_relaxed))
      return is_free;
  }
}

static inline void state_set(struct lwlock* lock, uint32_t flag) {
  atomic_fetch_or_explicit(&lock->state, flag, memory_order_acq_rel);
}

static inline void state_clear(struct lwlock* lock, uint32_t flag) {
  atomic_fetch_and_explicit(&lock->state, ~flag, memory_order_acq_rel);
}

static inline void state_enqueue(struct lwlock* lock, struct waiter* self, enum lwlock_mode mode) {
  spin_acquire(&lock->mutex, self);
  state_set(lock, LW_HAS_WAITERS);
  queue_append(lock, self, mode);
  spin_unlock(&lock->mutex);
}

static inline void state_dequeue(struct lwlock* lock, struct waiter* self) {
  spin_acquire(&lock->mutex, self);
  bool found = queue_remove(lock, self);
  if (!lock->head) state_clear(lock, LW_HAS_WAITERS);
  spin_unlock(&lock->mutex);
  if (found) {
    atomic_store_explicit(&self->waiting, false, memory_order_relaxed);
    return;
  }
  state_set(lock, LW_RELEASE_OK);
  sleep_until_woken(self);
}

static inline void state_lwlock_acquire(struct lwlock* lock, struct waiter* self,
                                        enum lwlock_mode mode) {
  while (!state_take(lock, mode)) {
    state_enqueue(lock, self, mode);
    if (state_take(lock, mode)) {  // it may have become free before this process was in the queue
      state_dequeue(lock, self);
      return;
    }
    sleep_until_woken(self);
    state_set(lock, LW_RELEASE_OK);
  }
}

static inline void state_lwlock_wake(struct lwlock* lock, struct waiter* self) {
  spin_acquire(&lock->mutex, self);
  struct waiter* woken = queue_take(lock);
  if (woken) state_clear(lock, LW_RELEASE_OK);
  if (!lock->head) state_clear(lock, LW_HAS_WAITERS);
  spin_unlock(&lock->mutex);
  wake(woken);
}

static inline void state_lwlock_release(struct lwlock* lock, struct waiter* self,
                                        enum lwlock_mode mode) {
  uint32_t mine = mode == EXCLUSIVE ? LW_EXCLUSIVE : 1;
  uint32_t now = atomic_fetch_sub_explicit(&lock->state, mine, memory_order_acq_rel) - mine;
  bool wakes = (now & LW_RELEASE_OK) && (now & LW_HAS_WAITERS) && !(now & LW_HELD);
  if (wakes) state_lwlock_wake(lock, self);
}

// ---- Both ---------------------------------------------------------------------------------------

static inline void lwlock_acquire(struct lwlock* lock, struct waiter* self, enum lwlock_mode mode) {
  if (lwlock == LWLOCK_SPIN)
    spin_lwlock_acquire(lock, self, mode);
  else
    state_lwlock_acquire(lock, self, mode);
}

static inline void lwlock_release(struct lwlock* lock, struct waiter* self, enum lwlock_mode mode) {
  if (lwlock == LWLOCK_SPIN)
    spin_lwlock_release(lock, self);
  else
    state_lwlock_release(lock, self, mode);
}

static inline void lwlock_setup(struct lwlock* lock) {
  lock->release_ok = true;
  lock->state = LW_RELEASE_OK;
}

static inline bool lwlock_is_free(const struct lwlock* lock) {
  return !lock->exclusive && !lock->shared && !(lock->state & LW_HELD) && !lock->head;
}

#endif  // UNCORE_LWLOCK_H_
