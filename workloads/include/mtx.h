// FreeBSD's mutex(9): one word that names the owner. There are two classes, which wait differently.
//
// * MTX_SPIN (`mtx_lock_spin`): waiters spin. It is held with interrupts off, so that an interrupt
//   handler may take it too.
//   Its owner is a hart, named by the address of its record.
// * MTX_DEF (`mtx_lock`): its owner is a thread. While the owner runs on some hart, waiters spin
//   and look ever more rarely (lock_delay.h), because the lock will be free sooner than a thread
//   could sleep and be woken. While the owner does not run, they sleep on a turnstile and lend it
//   their priority. A bit in the word says that there are sleepers; unlock then takes its slow
//   path, which wakes all of them, and they compete again.
//
// `mutex` chooses how waiters of an MTX_DEF wait, for comparison. With `sleep` they never spin.
// With `handoff` they do not compete either: unlock gives the lock to the longest sleeper. That is
// fair, but forms convoys (Blasgen, Gray, Mitoma and Price 1979): no thread uses the lock while the
// new owner is being woken, and a thread that unlocks and locks again must queue.
#ifndef UNCORE_MTX_H_
#define UNCORE_MTX_H_

#include "lock_delay.h"
#include "scheduler.h"
#include "turnstile.h"

enum mutex { MUTEX_ADAPTIVE, MUTEX_SLEEP, MUTEX_HANDOFF };
UC_PARAM(choice, mutex, MUTEX_ADAPTIVE, "adaptive|sleep|handoff", "how a thread waits for a mutex");

#define MTX_UNOWNED 0
#define MTX_CONTESTED 1  // a flag: threads sleep on the turnstile
#define MTX_GRANTED 2    // in place of an owner: the woken sleeper will be the owner

struct mtx {
  _Atomic uintptr_t word;
  bool interrupts;             // MTX_SPIN: whether interrupts were on before the lock
  struct turnstile turnstile;  // MTX_DEF
};

static inline void mtx_setup(unsigned n) {
  uc_sched_setup(n);
  turnstile_setup();
}

static inline bool mtx_change(struct mtx* mtx, uintptr_t from, uintptr_t to, memory_order order) {
  return atomic_compare_exchange_strong_explicit(&mtx->word, &from, to, order,
                                                 memory_order_relaxed);
}

static inline uintptr_t mtx_word(struct mtx* mtx) {
  return atomic_load_explicit(&mtx->word, memory_order_relaxed);
}

// ---- MTX_SPIN -----------------------------------------------------------------------------------

static inline bool mtx_owned_spin(struct mtx* mtx) { return mtx_word(mtx) == (uintptr_t)uc_self(); }

static inline void mtx_lock_spin(struct mtx* mtx) {
  struct lock_delay delay = {0};
  bool interrupts = uc_interrupts_off();
  while (!mtx_change(mtx, MTX_UNOWNED, (uintptr_t)uc_self(), memory_order_acquire)) {
    uc_interrupts_restore(interrupts);  // interrupts are served while the hart waits
    while (mtx_word(mtx) != MTX_UNOWNED) lock_delay_more(&delay);
    uc_interrupts_off();
  }
  mtx->interrupts = interrupts;
}

static inline void mtx_unlock_spin(struct mtx* mtx) {
  bool interrupts = mtx->interrupts;
  atomic_store_explicit(&mtx->word, MTX_UNOWNED, memory_order_release);
  uc_interrupts_restore(interrupts);
}

// ---- MTX_DEF ------------------------------------------------------------------------------------

static inline struct uc_thread* mtx_owner(uintptr_t word) {
  uintptr_t owner = word & ~(uintptr_t)MTX_CONTESTED;
  return owner == MTX_GRANTED ? NULL : (struct uc_thread*)owner;
}

static inline bool mtx_owned(struct mtx* mtx) {
  return mtx_owner(mtx_word(mtx)) == uc_thread_self();
}

static inline bool mtx_worth_spinning(uintptr_t word) {
  struct uc_thread* owner = mtx_owner(word);
  return mutex == MUTEX_ADAPTIVE && owner && uc_thread_running(owner);
}

static inline void mtx_spin_while_owner_runs(struct mtx* mtx, uintptr_t word,
                                             struct lock_delay* delay) {
  for (; mtx_worth_spinning(word); word = mtx_word(mtx)) lock_delay_more(delay);
}

// Sleeps unless the mutex has changed. Returns whether it has been handed over to this thread.
static inline bool mtx_sleep(struct mtx* mtx, uintptr_t seen) {
  uintptr_t contested = seen | MTX_CONTESTED;
  uc_sleepq_lock(mtx);
  uintptr_t word = mtx_word(mtx);
  bool still =
      word == contested || (word == seen && mtx_change(mtx, seen, contested, memory_order_relaxed));
  if (!still || mtx_worth_spinning(seen)) {
    uc_sleepq_release(mtx);
    return false;
  }
  turnstile_wait(&mtx->turnstile, mtx, mtx_owner(seen));
  return mutex == MUTEX_HANDOFF;
}

// Takes a lock that was handed over to this thread. Others may still sleep for it.
static inline void mtx_accept(struct mtx* mtx, struct uc_thread* self) {
  uc_sleepq_lock(mtx);
  uintptr_t flag = mtx_word(mtx) & MTX_CONTESTED;
  atomic_store_explicit(&mtx->word, (uintptr_t)self | flag, memory_order_relaxed);
  if (flag) turnstile_claim(&mtx->turnstile);
  uc_sleepq_release(mtx);
}

// Not inlined, as in FreeBSD, where only the fast path that takes a free lock is inlined.
static __attribute__((noinline)) void mtx_lock_contended(struct mtx* mtx, struct uc_thread* self) {
  struct lock_delay delay = {0};
  do {
    uintptr_t word = mtx_word(mtx);
    if (word == MTX_UNOWNED) continue;
    if (mtx_worth_spinning(word)) {
      mtx_spin_while_owner_runs(mtx, word, &delay);
    } else if (mtx_sleep(mtx, word)) {
      mtx_accept(mtx, self);
      return;
    }
  } while (!mtx_change(mtx, MTX_UNOWNED, (uintptr_t)self, memory_order_acquire));
}

static inline void mtx_lock(struct mtx* mtx) {
  struct uc_thread* self = uc_thread_self();
  if (!mtx_change(mtx, MTX_UNOWNED, (uintptr_t)self, memory_order_acquire))
    mtx_lock_contended(mtx, self);
}

// Unlocks a mutex for which threads sleep.
static inline void mtx_unlock_contested(struct mtx* mtx) {
  bool handoff = mutex == MUTEX_HANDOFF;
  uc_sleepq_lock(mtx);
  // Sleepers are not counted, so with handoff the flag stays until an unlock finds none to wake.
  uintptr_t after = handoff ? MTX_GRANTED | MTX_CONTESTED : MTX_UNOWNED;
  atomic_store_explicit(&mtx->word, after, memory_order_release);
  if (!turnstile_wake(&mtx->turnstile, mtx, handoff) && handoff)
    atomic_store_explicit(&mtx->word, MTX_UNOWNED, memory_order_release);
  uc_sleepq_release(mtx);
}

static inline void mtx_unlock(struct mtx* mtx) {
  uintptr_t self = (uintptr_t)uc_thread_self();
  if (!mtx_change(mtx, self, MTX_UNOWNED, memory_order_release)) mtx_unlock_contested(mtx);
}

#endif  // UNCORE_MTX_H_
