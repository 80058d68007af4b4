// The loop that workloads about locks and reference counts share: again and again, every hart takes
// the lock or the reference, holds it, gives it back and thinks (stays away for some time).
//
// The region of interest closes for each hart after its last `think`.
//
// A file that includes this header defines the function declared below; uc_main calls `turns`.
#ifndef UNCORE_TURNS_H_
#define UNCORE_TURNS_H_

#include "loop.h"
#include "spin.h"
#include "uncore.h"

UC_PARAM(duration, hold, 0, "ns", "time between taking and giving back");
UC_PARAM(duration, think, 0, "ns", "time outside, after each giving back");

// Takes the lock or reference, waits for `hold`, gives it back. `usual`: all options are defaults.
UC_SPECIALISED void turns_one(void* shared, unsigned id, bool usual);

UC_SPECIALISED void turns_pass(uint64_t ns, bool usual) {
  if (usual)
    uc_delay(ns);
  else
    spin_for(ns);
}

UC_SPECIALISED void turns_run(void* shared, unsigned id, bool usual) {
  struct loop loop = loop_begin();
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

// `usual`: all options of the file that includes this have their defaults.
UC_SPECIALISED void turns(void* shared, unsigned id, bool usual) {
  if (usual && spin_kind == SPIN_DELAY)
    turns_run(shared, id, true);
  else
    turns_as_set(shared, id);
}

#endif  // UNCORE_TURNS_H_
