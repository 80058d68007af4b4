// Thread switch: the threads of each hart run in turn, each with its own data.
//
// A switch saves a dozen registers and uses the run queue; its main cost is in the caches, where
// one thread's data displace another's (Mogul and Borg 1991). The threads of a hart yield to each
// other; between two yields each uses `footprint` lines of its own. Harts share no data, so
// throughput per hart does not depend on their number.
//
// Check: the threads of a hart take turns in the order of their creation, all equally often.
#include "loop.h"
#include "scheduler.h"
#include "uncore.h"

UC_WORKLOAD("Threads of one hart yield to each other in turn");
UC_PARAM(u64, threads, 2, "threads", "on each hart");
UC_PARAM(u64, footprint, 4, "lines", "that a thread uses between two yields");

static struct hart {
  UC_ALIGNED uint64_t turn;  // number of runs so far, of all threads
  bool over;                 // set by the first thread, so that all run equally often
}* harts;

static struct line {
  _Alignas(64) volatile uint64_t used;
}* data;

static void run(void* argument) {
  uint64_t number = (uint64_t)argument, place = number % threads, turns = 0;
  struct hart* hart = &harts[uc_id()];
  struct line* lines = &data[number * footprint];
  for (struct loop loop = loop_plan(); place ? !hart->over : loop_more(&loop); turns++) {
    uc_start();
    uc_check(hart->turn++ == turns * threads + place, "a thread ran out of turn");
    for (uint64_t i = 0; i < footprint; i++) lines[i].used++;
    if (!UC_SABOTAGE) uc_yield();
    uc_op();
  }
  hart->over = true;
  for (uint64_t i = 0; i < footprint; i++)
    uc_check(lines[i].used == turns, "a thread found other data than it left");
}

void uc_setup(unsigned n) {
  uc_sched_setup(n);
  harts = uc_alloc(n * sizeof *harts, 0);
  data = uc_alloc(n * threads * footprint * sizeof *data, 0);
  for (uint64_t i = 0; i < n * threads; i++)
    uc_thread_create(run, (void*)i, uc_cpuset_one((unsigned)(i / threads)));
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}
