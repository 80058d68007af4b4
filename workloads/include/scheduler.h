// Threads (thread.h) for workloads, with parameters of the scheduler.
//
// A file whose code may sleep includes this header and calls uc_sched_setup(n) in its part of
// uc_setup. Only the first call has an effect.
#ifndef UNCORE_SCHEDULER_H_
#define UNCORE_SCHEDULER_H_

#include "thread.h"

enum idling { IDLE_WFI, IDLE_POLL };
UC_PARAM(duration, switch_cost, 0, "ns",
         "what a thread switch costs beyond its own loads and stores");
UC_PARAM(choice, idle, IDLE_WFI, "wfi|poll",
         "an idle hart sleeps until an IPI, or watches its run queue, as with MWAIT");

static inline void uc_sched_setup(unsigned n) { uc_sched_start(n, switch_cost, idle == IDLE_POLL); }

#endif  // UNCORE_SCHEDULER_H_
