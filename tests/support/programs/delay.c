// An interrupt arrives while its hart delays, and another core sets that hart's timer.
//
// Hart 0 delays. The last hart interrupts it during the delay, and then sets and reads the timer of
// hart 0. The table has the times that hart 0 read.
//
// Check: the interrupt was handled during the delay, the delay still took its whole time, and the
// timer's register returned what was written.
#include "uncore.h"

UC_WORKLOAD("An interrupt during a delay, and registers of another core");
UC_PARAM(u64, wait, 3000, "ns", "delay of hart 0");
UC_TABLE(taken, "ns", "begin of the delay, the interrupt, end of the delay");

#define MTIMECMP(hart) ((volatile uint64_t*)(UC_CLINT_BASE + UC_CLINT_MTIMECMP) + (hart))

static _Atomic uint64_t begun, interrupted, ended;

static void handler(void) { interrupted = uc_now(); }

void uc_setup(unsigned n) {
  (void)n;
  uc_table_make(&taken, 1, 3);
  uc_on_ipi(handler);
}

void uc_main(unsigned id, unsigned n) {
  if (id == 0) {
    begun = uc_now();
    uc_delay(wait);
    ended = uc_now();
    uc_check(interrupted < begun + wait, "the interrupt waited for the end of the delay");
    uc_check(ended >= begun + wait, "the delay ended for good with the interrupt");
    uint64_t seen[] = {begun, interrupted, ended};
    for (unsigned i = 0; i < 3; i++) *uc_cell(&taken, 0, i) = seen[i];
  } else if (id == n - 1) {
    while (!begun) uc_pause();
    uc_delay(wait / 4);
    uc_ipi(0);
    uint64_t far = ~(uint64_t)0 - id;
    *MTIMECMP(0) = far;
    uc_check(*MTIMECMP(0) == far, "the timer reads what was not written");
    while (!ended) uc_pause();
  }
  uc_op();
}
