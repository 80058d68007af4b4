// Every hart takes something, holds it, gives it back and thinks, again and again: what locks and
// reference counts have in common.
//
// With `warmup` harts do so for that long before anything is counted; the region of interest opens
// in the midst of it, without another barrier, so what queues have formed stay. Without, it opens
// with the barrier, and closes for each hart after its last `think`.
//
// A file that includes this header defines the function declared below, and uc_main by `turns`.
#ifndef UNCORE_TURNS_H_
#define UNCORE_TURNS_H_

#include "loop.h"
#include "spin.h"
#include "uncore.h"

UC_PARAM(duration, hold, 0, "ns", "time between taking and giving back");
UC_PARAM(duration, think, 0, "ns", "time outside, after each giving back");
UC_OPTION(duration, turns_warmup, warmup, 0, "ns",
          "operations of that time come first, not counted");

// Takes, lets `hold` pass, gives back. `usual`: no option was set.
UC_SPECIALISED void turns_one(void* shared, unsigned id, bool usual);

UC_SPECIALISED void turns_pass(uint64_t ns, bool usual) {
  if (usual)
    uc_delay(ns);
  else
    spin_for(ns);
}

static struct warmed_up {
  UC_ALIGNED uint64_t turns;
}* warmed_up;  // of each hart; null without `warmup`

static inline void turns_setup(unsigned n) {
  if (turns_warmup) warmed_up = uc_alloc(n * sizeof *warmed_up, 0);
}

// Counted and not counted, of all harts: for uc_finish.
static inline uint64_t turns_in_all(unsigned n) {
  uint64_t sum = uc_total_ops(n);
  for (unsigned id = 0; turns_warmup && id < n; id++) sum += warmed_up[id].turns;
  return sum;
}

static void warm_up(void* shared, unsigned id) {
  for (uint64_t end = uc_now() + turns_warmup; uc_now() < end; spin_for(think)) {
    uc_start();
    turns_one(shared, id, false);
    warmed_up[id].turns++;
  }
}

UC_SPECIALISED void turns_run(void* shared, unsigned id, bool usual) {
  loop_meet();
  if (!usual && turns_warmup) warm_up(shared, id);
  struct loop loop = loop_open();
  while (loop_more(&loop)) {
    uc_start();
    turns_one(shared, id, usual);
    uc_op();
    turns_pass(think, usual);
  }
  loop_end();
}

static __attribute__((noinline)) void turns_as_set(void* shared, unsigned id) {
  turns_run(shared, id, false);
}

// `usual`: of the includer's options none was set.
UC_SPECIALISED void turns(void* shared, unsigned id, bool usual) {
  if (usual && !turns_warmup && spin_kind == SPIN_DELAY)
    turns_run(shared, id, true);
  else
    turns_as_set(shared, id);
}

#endif  // UNCORE_TURNS_H_
