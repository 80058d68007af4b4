// A lock for many readers or one writer in one word: the basis of rwlock.h, sx.h and lockmgr.h.
//
// The word holds the number of readers, or the writer's thread; its low bits show whether readers
// or writers sleep. Every reader changes the word twice, so readers wait for its line although they
// do not exclude each other, as in kernel/inpcb.c. Epochs and rmlocks avoid that.
//
// The three locks differ only in their policy, a constant at each call: whether waiters spin while
// the writer runs, whether they lend priority (turnstile.h), whether a waiting writer keeps new
// readers out, and which waiters an unlocking writer wakes. The lock does not know whether its
// readers run; so a writer spins for `speculate`, reading at growing intervals, and then sleeps.
//
// Invariant: a waiter sets its bit before it sleeps, under the lock of the sleep queue's chain. So
// a thread that finds no bit set may unlock without looking for sleepers.
#ifndef UNCORE_SHARED_LOCK_H_
#define UNCORE_SHARED_LOCK_H_

#include "lock_delay.h"
#include "scheduler.h"
#include "turnstile.h"

UC_PARAM(duration, speculate, 10000, "ns", "spin this long for readers to leave before sleeping");

enum {
  SHARED_READ = 1,  // set: the word counts readers, perhaps 0; clear: it names the writer
  SHARED_READ_WAITERS = 2,
  SHARED_WRITE_WAITERS = 4,
  SHARED_WAITERS = SHARED_READ_WAITERS | SHARED_WRITE_WAITERS,
  SHARED_FLAGS = SHARED_READ | SHARED_WAITERS,
  SHARED_ONE_READER = 8,
};

struct shared_lock {
  _Atomic uintptr_t word;  // SHARED_READ while the lock is free
  struct turnstile turnstile;
};

struct shared_policy {
  bool spins;          // waiters spin while the writer runs, and some time for readers
  bool lends;          // waiters lend their priority to the writer
  bool writers_first;  // a waiting writer keeps readers out, and is woken first
};

static inline void shared_setup(struct shared_lock* lock, unsigned n) {
  uc_sched_setup(n);
  turnstile_setup();
  atomic_store_explicit(&lock->word, SHARED_READ, memory_order_relaxed);
}

static inline uintptr_t shared_word(struct shared_lock* lock) {
  return atomic_load_explicit(&lock->word, memory_order_relaxed);
}

// Changes the word from `*seen` to `to`. If it is not `*seen`, stores it there and returns false.
static inline bool shared_swap(struct shared_lock* lock, uintptr_t* seen, uintptr_t to,
                               memory_order order) {
  return atomic_compare_exchange_strong_explicit(&lock->word, seen, to, order,
                                                 memory_order_relaxed);
}

static inline bool shared_change(struct shared_lock* lock, uintptr_t from, uintptr_t to,
                                 memory_order order) {
  return shared_swap(lock, &from, to, order);
}

static inline struct uc_thread* shared_writer(uintptr_t word) {
  return word & SHARED_READ ? NULL : (struct uc_thread*)(word & ~(uintptr_t)SHARED_FLAGS);
}

static inline uintptr_t shared_readers(uintptr_t word) {
  return word & SHARED_READ ? word / SHARED_ONE_READER : 0;
}

// ---- Waiting ------------------------------------------------------------------------------------

// Returns the channel of readers or of writers, which share a chain (thread.h).
static inline const void* shared_channel(struct shared_lock* lock, uintptr_t waiters) {
  return (char*)&lock->word + waiters;
}

static inline void shared_sleep(struct shared_lock* lock, struct shared_policy policy,
                                uintptr_t seen, uintptr_t waiters) {
  const void* channel = shared_channel(lock, waiters);
  uc_sleepq_lock(channel);
  bool still = shared_word(lock) == seen &&
               (seen & waiters || shared_change(lock, seen, seen | waiters, memory_order_relaxed));
  if (!still)
    uc_sleepq_release(channel);
  else if (policy.lends)
    turnstile_wait(&lock->turnstile, channel, shared_writer(seen));
  else
    uc_sleepq_wait(channel);
}

static inline bool shared_writer_runs(uintptr_t word) {
  struct uc_thread* writer = shared_writer(word);
  return writer && uc_thread_running(writer);
}

// Spins as long as the policy says. Returns whether the word has changed meanwhile.
static inline bool shared_spin(struct shared_lock* lock, struct shared_policy policy,
                               uintptr_t seen, struct lock_delay* delay) {
  if (!policy.spins) return false;
  if (shared_writer(seen)) {
    while (shared_writer_runs(shared_word(lock))) lock_delay_more(delay);
  } else {
    uint64_t pause = 50;
    for (uint64_t spent = 0; shared_word(lock) == seen && spent < speculate; spent += pause) {
      pause = spent + pause < speculate ? pause : speculate - spent;
      uc_delay(pause);
      pause *= 2;
    }
  }
  return shared_word(lock) != seen;
}

static inline void shared_await(struct shared_lock* lock, struct shared_policy policy,
                                uintptr_t seen, uintptr_t waiters, struct lock_delay* delay) {
  if (!shared_spin(lock, policy, seen, delay)) shared_sleep(lock, policy, seen, waiters);
}

// Releases the lock, whose word is `seen`, and wakes either its readers or its writers. The bit of
// the other kind stays set, so that they are woken later.
static inline bool shared_wake(struct shared_lock* lock, struct shared_policy policy,
                               uintptr_t seen) {
  bool writers = seen & SHARED_WRITE_WAITERS;
  if (!policy.writers_first && seen & SHARED_READ_WAITERS && shared_writer(seen)) writers = false;
  uintptr_t woken = writers ? SHARED_WRITE_WAITERS : SHARED_READ_WAITERS;
  const void* channel = shared_channel(lock, woken);
  uc_sleepq_lock(channel);
  uintptr_t after = SHARED_READ | (seen & SHARED_WAITERS & ~woken);
  bool changed = shared_change(lock, seen, after, memory_order_release);
  if (changed && policy.lends)
    turnstile_wake(&lock->turnstile, channel, false);
  else if (changed)
    uc_sleepq_broadcast(channel);
  uc_sleepq_release(channel);
  return changed;
}

// ---- The two modes ------------------------------------------------------------------------------

static inline bool shared_admits(uintptr_t word, struct shared_policy policy) {
  return word & SHARED_READ && !(policy.writers_first && word & SHARED_WRITE_WAITERS);
}

// A failed compare-and-swap returns the word's value, so the next attempt follows at once, without
// another load (fcmpset in __rw_rlock_try and __rw_runlock_try of kern/kern_rwlock.c, since FreeBSD
// 11.1).
static inline void shared_read_lock(struct shared_lock* lock, struct shared_policy policy) {
  struct lock_delay delay = {0};
  for (uintptr_t word = shared_word(lock);;) {
    if (!shared_admits(word, policy)) {
      shared_await(lock, policy, word, SHARED_READ_WAITERS, &delay);
      word = shared_word(lock);
    } else if (shared_swap(lock, &word, word + SHARED_ONE_READER, memory_order_acquire)) {
      return;
    }
  }
}

static inline void shared_read_unlock(struct shared_lock* lock, struct shared_policy policy) {
  for (uintptr_t word = shared_word(lock);;) {
    if (shared_readers(word) == 1 && word & SHARED_WAITERS) {
      // This is the last reader, which must wake the sleepers.
      if (shared_wake(lock, policy, word)) return;
      word = shared_word(lock);
    } else if (shared_swap(lock, &word, word - SHARED_ONE_READER, memory_order_release)) {
      return;
    }
  }
}

// Takes the lock for writing if its word is `seen`: no reader, or only this thread, which upgrades.
static inline bool shared_take(struct shared_lock* lock, struct shared_policy policy,
                               uintptr_t seen) {
  struct uc_thread* self = uc_thread_self();
  uintptr_t waiters = seen & SHARED_WAITERS;
  if (!shared_change(lock, seen, (uintptr_t)self | waiters, memory_order_acquire)) return false;
  if (waiters && policy.lends) {
    const void* channel = shared_channel(lock, SHARED_WRITE_WAITERS);
    uc_sleepq_lock(channel);
    turnstile_claim(&lock->turnstile);
    uc_sleepq_release(channel);
  }
  return true;
}

// Not inlined, as in FreeBSD, where only the fast path that takes a free lock is inlined.
static __attribute__((noinline)) void shared_write_lock_contended(struct shared_lock* lock,
                                                                  struct shared_policy policy) {
  struct lock_delay delay = {0};
  for (;;) {
    uintptr_t word = shared_word(lock);
    if ((word & ~(uintptr_t)SHARED_WAITERS) != SHARED_READ)
      shared_await(lock, policy, word, SHARED_WRITE_WAITERS, &delay);
    else if (shared_take(lock, policy, word))
      return;
  }
}

static inline void shared_write_lock(struct shared_lock* lock, struct shared_policy policy) {
  if (!shared_change(lock, SHARED_READ, (uintptr_t)uc_thread_self(), memory_order_acquire))
    shared_write_lock_contended(lock, policy);
}

static __attribute__((noinline)) void shared_write_unlock_contested(struct shared_lock* lock,
                                                                    struct shared_policy policy) {
  while (!shared_wake(lock, policy, shared_word(lock))) continue;  // fails if a waiter comes
}

static inline void shared_write_unlock(struct shared_lock* lock, struct shared_policy policy) {
  uintptr_t self = (uintptr_t)uc_thread_self();
  if (!shared_change(lock, self, SHARED_READ, memory_order_release))
    shared_write_unlock_contested(lock, policy);
}

#endif  // UNCORE_SHARED_LOCK_H_
