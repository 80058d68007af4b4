// Harts add to one count in turn: the cost for a hart to see its turn and to add.
//
// McKenney measures an operation between two CPUs like this ("Is Parallel Programming Hard",
// chapter on hardware): a hart adds one to the count when the count's value says that it is this
// hart's turn. `blind` repeats the compare-and-swap until it succeeds, so it fetches the line for
// writing at once. `look` reads first, like most code, so it fetches the line twice.
//
// Check: the count ends at the number of turns.
#include "uncore.h"

UC_WORKLOAD("Harts add to a count in turn: by compare-and-swap at once, or after a look");
enum { BY_BLIND, BY_LOOK };
UC_PARAM(choice, by, BY_BLIND, "blind|look", "try until it succeeds, or read until it can");
UC_PARAM(u64, rounds, 100, "rounds", "turns of each hart");
UC_PARAM(u64, count_node, 0, "node", "memory node of the count");

static _Atomic uint64_t* count;

void uc_setup(unsigned n) {
  (void)n;
  count = uc_alloc(sizeof *count, (unsigned)count_node);
}

static inline bool add_to(uint64_t seen) {
  return atomic_compare_exchange_strong(count, &seen, seen + 1);
}

static void blind(uint64_t turn, unsigned n) {
  for (uint64_t left = rounds; left; left--, turn += n)
    while (!add_to(turn)) continue;
}

static void look(uint64_t turn, unsigned n) {
  for (uint64_t left = rounds; left; left--, turn += n) {
    while (atomic_load_explicit(count, memory_order_relaxed) != turn) continue;
    uc_check(add_to(turn), "another hart took this one's turn");
  }
}

static void push_in(void) {
  for (uint64_t left = rounds; left; left--) {
    uint64_t seen = atomic_load_explicit(count, memory_order_relaxed);
    uc_delay(10);  // other harts add during this time, and their additions get lost
    atomic_store_explicit(count, seen + 1, memory_order_relaxed);
  }
}

void uc_main(unsigned id, unsigned n) {
  uc_barrier();
  uc_roi(true);
  if (UC_SABOTAGE)
    push_in();
  else if (by == BY_BLIND)
    blind(id, n);
  else
    look(id, n);
  uc_ops(rounds);
  uc_roi(false);
}

void uc_finish(unsigned n) { uc_check(*count == n * rounds, "turns were lost"); }
