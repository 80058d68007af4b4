// A barrier of one counter: the last hart to arrive releases the others.
//
// This is the centralized barrier of Mellor-Crummey and Scott (1991). Each hart that arrives
// decrements a count, and all but the last wait for a word to change. The word is the number of the
// last finished round, so a hart cannot run ahead by a round. Count and word share a line, as in
// naive code: each arrival takes the line from the waiting harts. So a round costs about one
// handoff per hart. The runtime's barrier (runtime/gather.c) is a tree, on separate lines.
//
// Check: a hart leaves only after its round is over, and the count is n again at the end.
#include "uncore.h"

UC_WORKLOAD("Barrier: all lower one count, and wait for the word that the last one changes");
UC_PARAM(u64, rounds, 100, "rounds", "barriers, one after the other");
UC_PARAM(bool, pause, 1, "", "who waits pauses between two looks");
UC_PARAM(u64, barrier_node, 0, "node", "memory node of the barrier");

static struct {
  UC_ALIGNED _Atomic uint64_t missing;  // harts that have not arrived
  _Atomic uint64_t over;                // number of rounds that have ended
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
    atomic_exchange(&barrier->missing, n);  // a sequentially consistent store, as on x86
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
