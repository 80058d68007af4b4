// cpupri of Linux: a mask with a bit for each CPU that runs a task of one priority.
//
// A CPU sets its bit when it starts such a task and clears it when the task ends. It searches the
// part of its own node for other CPUs. The mask of 480 CPUs is one line, for which two sockets
// contend. A change of 2025 gives each memory node its own mask; -DAPART makes that change by
// hand.
//
// Check: no bit is set at the end.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Masks of CPUs by priority: one line for all nodes, or a line each");
UC_PARAM(duration, think, 20000, "ns", "between two changes of a CPU's priority");

#define WORDS 4  // words of the mask of a node

static struct cpupri {
  UC_ALIGNED _Atomic uint64_t near[WORDS];
#ifndef APART
  _Atomic uint64_t far[WORDS];
#else
  UC_ALIGNED _Atomic uint64_t far[WORDS];
#endif
}* cpupri;

void uc_setup(unsigned n) {
  (void)n;
  cpupri = uc_alloc(sizeof *cpupri, 0);
}

void uc_main(unsigned id, unsigned n) {
  unsigned half = (n + 1) / 2, at = id % half;
  _Atomic uint64_t* mask = id < half ? cpupri->near : cpupri->far;
  uint64_t bit = 1ull << at % 64;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    atomic_fetch_or_explicit(&mask[at / 64 % WORDS], bit, memory_order_relaxed);
    uint64_t found = 0;
    for (unsigned k = 0; k < WORDS; k++)
      found |= atomic_load_explicit(&mask[k], memory_order_relaxed);
    uc_check(found != 0, "no CPU has this priority, not even this one");
    atomic_fetch_and_explicit(&mask[at / 64 % WORDS], ~bit, memory_order_relaxed);
    uc_delay(think);
    uc_op();
  }
  loop_end();
}

void uc_finish(unsigned n) {
  (void)n;
  for (unsigned k = 0; k < WORDS; k++)
    uc_check((cpupri->near[k] | cpupri->far[k]) == 0, "a bit is left over");
}
