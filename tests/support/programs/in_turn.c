// Harts take turns in order. Each waits for its turn by a compare-and-swap made of LR and SC.
// Between two turns a hart delays, and then reads, writes or adds to words of the same line. So
// loads, stores and atomics of siblings and of other cores disturb waiting harts at any time.
//
// Check: every hart had all of its turns, and no addition is lost.
#include "uncore.h"

UC_WORKLOAD("Harts that wait for their turn by compare-and-swap");
UC_PARAM(u64, ops, 10, "turns", "of each hart");
UC_PARAM(u64, away, 2000, "ns", "time that a hart stays away at most");
UC_PARAM(u64, seed, 1, "number", "of the random choices");

static struct line {
  UC_ALIGNED _Atomic uint64_t turn;
  _Atomic uint64_t added;
  volatile uint64_t written;
}* shared;
static _Atomic uint64_t* adding;  // number of additions by all harts

void uc_setup(unsigned n) {
  (void)n;
  shared = uc_alloc(sizeof *shared, 0);
  adding = uc_alloc(sizeof *adding, 0);
}

static uint64_t draw(uint64_t* random, uint64_t below) {  // xorshift64
  uint64_t x = *random;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  *random = x;
  return (x >> 16) % below;
}

static void interfere(uint64_t choice, unsigned id) {
  uint64_t seen;
  switch (choice) {
    case 0:
      seen = shared->written;
      (void)seen;
      return;
    case 1:
      shared->written = id;
      return;
    case 2:
      atomic_fetch_add_explicit(&shared->added, 1, memory_order_relaxed);
      atomic_fetch_add_explicit(adding, 1, memory_order_relaxed);
      return;
    case 3:  // adds only if no hart has added before
      seen = 0;
      if (atomic_compare_exchange_strong(&shared->added, &seen, 1))
        atomic_fetch_add_explicit(adding, 1, memory_order_relaxed);
      return;
    default:
      return;
  }
}

void uc_main(unsigned id, unsigned n) {
  uint64_t random = (seed + id + 1) * 0x9e3779b97f4a7c15;
  uc_barrier();
  uc_roi(true);
  for (uint64_t i = 0; i < ops; i++) {
    uc_start();
    uc_delay(draw(&random, away + 1));
    interfere(draw(&random, 6), id);
    uint64_t mine = i * n + id, seen;
    do {
      seen = mine;
    } while (!atomic_compare_exchange_strong(&shared->turn, &seen, mine + 1));
    uc_op();
  }
  uc_roi(false);
  uc_barrier();
  uc_check(shared->turn == ops * n, "a turn was lost");
  uc_check(shared->added == *adding, "what was added is lost");
}
