// There is one fence for all levels; at later levels a thread loads before its stores are visible.
#include "contend.h"

UC_WORKLOAD("Peterson's lock, a tree of locks for two: stores, looks, and full fences between");
UC_PARAM(u64, levels, 1, "levels", "of locks for two that a hart takes, or as many as harts need");

#define MAX_LEVELS 12  // for 4096 harts

// The locks of the tree as a heap: the root is 1, the children of k are 2k and 2k + 1.
static struct pair {
  UC_ALIGNED _Atomic uint32_t last;  // the side that came last
  struct side {
    UC_ALIGNED _Atomic uint32_t wants;
  } sides[2];
}* pairs;

struct lock {
  UC_ALIGNED unsigned deepest;  // number of levels; read-only
};

static struct lock* lock_setup(unsigned n) {
  uc_require(levels >= 1 && levels <= MAX_LEVELS, "levels must be 1 to 12");
  struct lock* made = uc_alloc(sizeof *made, (unsigned)lock_node);
  made->deepest = (unsigned)levels;
  while (1u << made->deepest < n) made->deepest++;
  pairs = uc_alloc(sizeof *pairs << made->deepest, (unsigned)lock_node);
  return made;
}

static struct pair* pair_at(struct lock* lock, unsigned id, unsigned level) {
  return &pairs[((1u << lock->deepest) + id) >> (level + 1)];
}

static void pair_acquire(struct pair* pair, unsigned side, bool first) {
  atomic_store_explicit(&pair->sides[side].wants, 1, memory_order_relaxed);
  atomic_store_explicit(&pair->last, side, memory_order_release);
  if (first)
    atomic_thread_fence(memory_order_seq_cst);
  else
    atomic_signal_fence(memory_order_seq_cst);
  while (atomic_load_explicit(&pair->sides[!side].wants, memory_order_acquire) &&
         atomic_load_explicit(&pair->last, memory_order_acquire) == side)
    uc_pause();
}

static void pair_release(struct pair* pair, unsigned side) {
  atomic_store_explicit(&pair->sides[side].wants, 0, memory_order_release);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  for (unsigned level = 0; level < lock->deepest; level++)
    pair_acquire(pair_at(lock, id, level), id >> level & 1, level == 0);
}

static void lock_release(struct lock* lock, unsigned id) {
  for (unsigned level = lock->deepest; level--;)
    pair_release(pair_at(lock, id, level), id >> level & 1);
}
