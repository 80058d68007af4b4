// A barrier of one counter: the last to arrive lets the others go.
//
// The centralized barrier of Mellor-Crummey and Scott (1991): whoever arrives lowers a count, and
// all but the last wait for a word to change, which also says which round is over, so nobody can
// overtake. Count and word share a line, as they do where nobody thought of it: each arrival takes
// it from those who wait already. So a round costs about a handoff for each hart; the runtime's own
// barrier (runtime/gather.c) is a tree, on lines of its own.
//
// Check: whoever leaves sees the round over, and the count is whole again at the end.
#include "uncore.h"

UC_WORKLOAD("Barrier: all lower one count, and wait for the word that the last one changes");
UC_PARAM(u64, rounds, 100, "rounds", "barriers, one after the other");
UC_PARAM(bool, pause, 1, "", "who waits pauses between two looks");
UC_PARAM(u64, barrier_node, 0, "node", "memory node of the barrier");

static struct {
  UC_ALIGNED _Atomic uint64_t missing;  // harts that have not arrived
  _Atomic uint64_t over;                // rounds that have ended
}* barrier;

void uc_setup(unsigned n) {
  barrier = uc_alloc(sizeof *barrier, (unsigned)barrier_node);
  barrier->missing = n;
}

static uint64_t rounds_over(void) {
  return atomic_load_explicit(&barrier->over, memory_order_acquire);
}

static void await(uint64_t round) {
  if (pause)
    while (rounds_over() != round) uc_pause();
  else
    while (rounds_over() != round) continue;
}

static void arrive(uint64_t round, unsigned n) {
  if (atomic_fetch_sub(&barrier->missing, 1) == 1) {
    atomic_exchange(&barrier->missing, n);  // x86's sequentially consistent store
    atomic_exchange(&barrier->over, round);
  } else if (!UC_SABOTAGE) {
    await(round);
  }
  uc_check(rounds_over() == round, "left before all had arrived");
}

void uc_main(unsigned id, unsigned n) {
  uc_barrier();
  uc_roi(true);
  for (uint64_t round = 1; round <= rounds; round++) {
    arrive(round, n);
    if (id == 0) uc_op();
  }
  uc_roi(false);
}

void uc_finish(unsigned n) {
  uc_check(barrier->over == rounds, "rounds were lost");
  uc_check(barrier->missing == n, "somebody did not arrive");
}
