// One hart writes a value, then sets a flag. A hart that reads the flag reads the value. All
// accesses are relaxed.
#include "loop.h"

UC_WORKLOAD("Message passing with everything relaxed");

static struct word {
  UC_ALIGNED _Atomic uint64_t is;
} *value, *flag;

void uc_setup(unsigned n) {
  (void)n;
  value = uc_alloc(sizeof *value, 0);
  flag = uc_alloc(sizeof *flag, 0);
}

static void send(uint64_t round) {
  atomic_store_explicit(&value->is, round, memory_order_relaxed);
  atomic_store_explicit(&flag->is, round, memory_order_relaxed);
}

static void receive(uint64_t round) {
  while (atomic_load_explicit(&flag->is, memory_order_relaxed) != round) uc_pause();
  uc_check(atomic_load_explicit(&value->is, memory_order_relaxed) == round, "the value is old");
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  struct loop loop = loop_begin();
  for (uint64_t round = 1; loop_more(&loop); round++) {
    if (id == 0)
      send(round);
    else if (id == 1)
      receive(round);
    uc_barrier();
    uc_op();
  }
  loop_end();
}
