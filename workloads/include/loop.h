// The measured loop that most workloads share: every hart does a number of operations, or does
// operations for a given time. All harts start together (a barrier) and the region of interest is
// exactly the loop.
//
//     struct loop loop = loop_begin();
//     while (loop_more(&loop)) { uc_start(); ...; uc_op(); }
//     loop_end();
#ifndef UNCORE_LOOP_H_
#define UNCORE_LOOP_H_

#include "uncore.h"

UC_PARAM(u64, ops, 100, "operations", "operations per hart, unless a duration is given");
UC_PARAM(duration, duration, 0, "ns",
         "run this long and count the operations; 0: do `ops` of them");
UC_PARAM(duration, patience, 0, "ns",
         "fail unless all harts have finished after this long; 0: wait for ever");

struct loop {
  uint64_t left;  // operations still to do
  uint64_t end;   // or the time at which to stop
};

// The loop alone, for threads of which a hart runs several.
static inline struct loop loop_plan(void) {
  return (struct loop){.left = ops, .end = duration ? uc_now() + duration : 0};
}

// The two halves of loop_begin, for who does something in between.
static inline void loop_meet(void) {
  uc_barrier();
  if (patience && uc_id() == 0) uc_patience(patience);
}

static inline struct loop loop_open(void) {
  uc_roi(true);
  return loop_plan();
}

static inline struct loop loop_begin(void) {
  loop_meet();
  return loop_open();
}

static inline bool loop_more(struct loop* loop) {
  return loop->end ? uc_now() < loop->end : loop->left-- > 0;
}

static inline void loop_end(void) { uc_roi(false); }

#endif  // UNCORE_LOOP_H_
