// MySQL's event mutex: spins for a random time, then waits for an event.
//
// This follows the sources of InnoDB's mutex. A thread that finds it taken reads it again up to
// `rounds` times, each time after a random number of pauses below `delay` times `pauses`. If it
// still fails it waits until the event's counter changes, and tries again. So a waiter for a
// short section spins, a waiter for a long one uses the event, and random delays keep spinners from
// reading the line at the same time.
//
// With `attempt=cas` a waiting thread marks the mutex, and a release that finds the mark increments
// the counter. With `attempt=swap` no thread can mark it, because the next exchange would erase the
// mark, so every release increments the counter. lockhammer does the latter (ARM's
// synchronization-benchmarks, 2018), with a `delay` of 600; there the counter is on the line of the
// word, and so it is here.
//
// The event is a counter in memory here, and a waiter polls it. The operating system's work for a
// sleeping thread is not part of this workload.
#include "contend.h"
#include "pauses.h"

enum attempt { BY_CAS, BY_SWAP };

UC_WORKLOAD("MySQL's event mutex: spins with random delays, then waits for an event");
UC_PARAM(u64, rounds, 30, "rounds", "looks at a taken mutex before waiting for the event");
UC_PARAM(u64, delay, 6, "", "random delays of a round are shorter, in units of `pauses`");
UC_PARAM(u64, pauses, 50, "pauses", "unit of the random delay");
UC_PARAM(choice, attempt, BY_CAS, "cas|swap", "how a free mutex is taken");

enum { FREE, TAKEN, WAITED_FOR };

struct lock {
  UC_ALIGNED _Atomic uint32_t word;
  _Atomic uint32_t events_beside;  // the event's counter for BY_SWAP, on the line of the word
  UC_ALIGNED _Atomic uint32_t events;
};

static struct random_numbers {
  UC_ALIGNED _Atomic uint64_t counter;
}* random_numbers;

static struct lock* lock_setup(unsigned n) {
  (void)n;
  random_numbers = uc_alloc(sizeof *random_numbers, 0);
  random_numbers->counter = 65654363;
  pauses_sample();  // now, so that no hart has to do it during the measurement
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

// Returns the next of InnoDB's pseudo-random numbers, the same in every run: one counter for all
// threads, advanced without an atomic operation, then mixed. The first ones below 600 are 374, 80,
// 535; a short run of two threads lasts about as long as the first delay.
static uint64_t random_below(uint64_t limit) {
  static const struct {
    uint64_t times, plus, flip;
  } mixing[] = {
      {119785373, 126792457, 187678878},
      {85689495, 63498502, 143537923},
  };
  uint64_t x = atomic_load_explicit(&random_numbers->counter, memory_order_relaxed);
  x = x * 151117737 + 119785373;
  atomic_store_explicit(&random_numbers->counter, x, memory_order_relaxed);
  for (unsigned k = 0; k < 2; k++) {
    x = (mixing[k].times * x + mixing[k].plus) ^ mixing[k].flip;
    x = x << 20 | x >> 44;
  }
  return limit ? (151117737 * x + 98781234) % limit : 0;
}

static bool take(struct lock* mutex) {
  if (attempt == BY_SWAP)
    return atomic_exchange_explicit(&mutex->word, TAKEN, memory_order_acquire) == FREE;
  uint32_t free = FREE;
  return atomic_compare_exchange_strong_explicit(&mutex->word, &free, TAKEN, memory_order_acquire,
                                                 memory_order_relaxed);
}

// Marks a taken mutex; takes a free one, with the mark, because other threads may wait.
static bool take_or_mark(struct lock* mutex) {
  if (attempt == BY_SWAP) return take(mutex);
  return atomic_exchange_explicit(&mutex->word, WAITED_FOR, memory_order_acquire) == FREE;
}

// Spins, and returns whether it took the mutex. A failed attempt does not count as a round.
static bool spun(struct lock* mutex) {
  for (uint64_t round = 0; round < rounds;) {
    if (atomic_load_explicit(&mutex->word, memory_order_relaxed) == FREE) {
      if (take(mutex)) return true;
    } else {
      uc_pauses(random_below(delay) * pauses);
      round++;
    }
  }
  return false;
}

static __attribute__((noinline)) void wait_and_take(struct lock* mutex) {
  while (!spun(mutex)) {
    _Atomic uint32_t* events = attempt == BY_SWAP ? &mutex->events_beside : &mutex->events;
    uint32_t seen = atomic_load_explicit(events, memory_order_acquire);
    if (take_or_mark(mutex)) return;
    while (atomic_load_explicit(events, memory_order_acquire) == seen) continue;
  }
}

static void lock_acquire(struct lock* mutex, unsigned id) {
  (void)id;
  if (!take(mutex)) wait_and_take(mutex);
}

// With BY_SWAP the counter is not incremented atomically, as in lockhammer: one increment may
// overwrite another, but the counter has changed, and that is enough.
static void lock_release(struct lock* mutex, unsigned id) {
  (void)id;
  uint32_t before = atomic_exchange_explicit(&mutex->word, FREE, memory_order_release);
  if (attempt == BY_SWAP) {
    uint32_t moves = atomic_load_explicit(&mutex->events_beside, memory_order_relaxed);
    atomic_store_explicit(&mutex->events_beside, moves + 1, memory_order_relaxed);
  } else if (before == WAITED_FOR) {
    atomic_fetch_add_explicit(&mutex->events, 1, memory_order_release);
  }
}
