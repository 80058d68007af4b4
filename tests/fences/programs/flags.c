// Each of two harts sets its flag and then reads the other's; at least one must see the other's. In
// TSO, too, this needs a fence between the two steps. Then each hart passes a value to the other,
// which needs release and acquire only in memory orders weaker than TSO.
#include "handed.h"
#include "loop.h"

UC_WORKLOAD("Two harts, a flag each, and a value handed over");

static struct side {
  UC_ALIGNED _Atomic uint64_t raised;
  UC_ALIGNED uint64_t saw;
  UC_ALIGNED uint64_t starts;
  UC_ALIGNED uint64_t value;
  UC_ALIGNED _Atomic uint64_t handed;
}* sides;

void uc_setup(unsigned n) {
  uc_check(n == 2, "for two harts");
  sides = uc_alloc(2 * sizeof *sides, 0);
}

static void raise_flag(struct side* mine, struct side* other, uint64_t round) {
  uint64_t before = atomic_load_explicit(&other->raised, memory_order_relaxed);
  sides->starts = uc_now() + 2000;
  uc_barrier();
  for (uint64_t starts = sides->starts; uc_now() < starts;) continue;  // both begin together
  atomic_store_explicit(&mine->raised, round, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  mine->saw = atomic_load_explicit(&other->raised, memory_order_relaxed) != before;
  uc_barrier();
  uc_check(mine->saw || other->saw, "neither saw the other's flag");
}

static void hand_over(struct side* mine, struct side* other, uint64_t round) {
  mine->value = round;
  atomic_store_explicit(&mine->handed, round, memory_order_release);
  while (HANDED(other->handed) != round) uc_pause();
  uc_check(other->value == round, "handed, and yet the value is old");
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  struct loop loop = loop_begin();
  for (uint64_t round = 1; loop_more(&loop); round++) {
    raise_flag(&sides[id], &sides[!id], round);
    hand_over(&sides[id], &sides[!id], round);
    uc_op();
  }
  loop_end();
}
