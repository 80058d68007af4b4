// One of two harts waits until the other one changes a word that it has just written itself. While
// its store is in the store buffer, after another store that misses, the buffer answers its loads;
// later the cache does. The harts change roles each time.
//
// Check: every word has the value of its last store.
#include "uncore.h"

UC_WORKLOAD("Harts that wait for words which stand in their store buffers");
UC_PARAM(u64, ops, 10, "times", "that each pair of harts does it");
UC_PARAM(u64, away, 300, "ns", "time after which the other writes, at most");

static struct line {
  UC_ALIGNED _Atomic uint64_t word;
  UC_ALIGNED _Atomic uint64_t noise;  // both harts write it
}* lines;

void uc_setup(unsigned n) { lines = uc_alloc(n * sizeof *lines, 0); }

static uint64_t load(_Atomic uint64_t* from) {
  return atomic_load_explicit(from, memory_order_relaxed);
}

static void store(_Atomic uint64_t* to, uint64_t value) {
  atomic_store_explicit(to, value, memory_order_relaxed);
}

static void wait(struct line* mine, struct line* other, uint64_t value) {
  store(&other->noise, value);
  store(&mine->word, value);
  while (load(&mine->word) == value) {
    if (value & 2) uc_pause();
  }
}

static void release(struct line* mine, struct line* other, uint64_t value) {
  store(&mine->noise, value);
  while (load(&other->word) != value) {
  }
  uc_delay(value * 0x9e3779b97f4a7c15 % (away + 1));
  store(&other->word, value + 1);
}

void uc_main(unsigned id, unsigned n) {
  struct line *mine = &lines[id], *other = &lines[id ^ 1];
  uc_barrier();
  uc_roi(true);
  for (uint64_t i = 1; i <= ops && (id ^ 1) < n; i++) {
    if ((i + id) & 1)
      wait(mine, other, 2 * i);
    else
      release(mine, other, 2 * i);
    uc_op();
  }
  uc_roi(false);
  uc_barrier();
  uint64_t last = ops - ((ops + id) & 1 ? 0 : 1);
  if ((id ^ 1) < n && last) uc_check(load(&mine->word) == 2 * last + 1, "a word was lost");
}
