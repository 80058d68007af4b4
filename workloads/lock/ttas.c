// Test-and-test-and-set lock, with exponential backoff.
//
// Rudolph and Segall (1984): a hart waits by reading, which causes no traffic while the line is in
// its own cache, and exchanges only when the lock seems free. But all waiters see a release at
// once, and all of them try: one wins, and the others have moved the line for nothing. Anderson
// (1990) adds Ethernet's backoff: a hart that has lost waits for a random time from an interval
// that doubles with each loss. This lowers the traffic, but adds idle time and is unfair, because
// the hart that has just released is the first to try again.
//
// `backoff=0` is the lock without backoff.
#include "contend.h"
#include "spinlock.h"

UC_WORKLOAD("Test-and-test-and-set lock: waits by reading, backs off after a lost attempt");
UC_PARAM(duration, backoff, 50, "ns", "longest pause after the first lost attempt; 0: none");
UC_PARAM(duration, backoff_limit, 5000, "ns", "longest pause after any number of them");

struct lock {
  struct spinlock word;
};

static struct dice {
  UC_ALIGNED uint64_t state;  // never 0
}* dice;

static struct lock* lock_setup(unsigned n) {
  dice = uc_alloc(n * sizeof *dice, 0);
  for (unsigned id = 0; id < n; id++) dice[id].state = (id + 1) * 0x9e3779b97f4a7c15;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

// Marsaglia's xorshift (2003). Each hart has its own sequence, the same in every run.
static uint64_t random_below(unsigned id, uint64_t limit) {
  uint64_t x = dice[id].state;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  dice[id].state = x;
  return x % limit;
}

static void lock_acquire(struct lock* lock, unsigned id) {
  uint64_t longest = backoff;
  for (;;) {
    spin_await(&lock->word);
    if (spin_trylock(&lock->word)) return;
    if (!longest) continue;
    uc_delay(random_below(id, longest) + 1);
    longest = 2 * longest < backoff_limit ? 2 * longest : backoff_limit;
  }
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  spin_unlock(&lock->word);
}
