// The measured loop that most workloads share: every hart does a given number of operations, or
// does operations for a given time. All harts start together, after a barrier, and the region of
// interest is exactly the loop.
//
//     struct loop loop = loop_begin();
//     while (loop_more(&loop)) { uc_start(); ...; uc_op(); }
//     loop_end();
//
// A timed loop reads the clock after each operation, or after every `unclocked` operations, because
// reading it may take longer than a short operation. Towards the end it reads more often: at the
// rate since the last reading, the next batch takes half of the remaining time, and the last batch
// all of it. Without a warm-up, use `unclocked` above 1 only for operations that take as long with
// all harts as with one hart alone.
//
// With `warmup`, harts do operations for that long before any is measured. Then the region of
// interest opens without another barrier, so queues that have formed stay. After it, a timed loop
// continues unmeasured until all harts have been measured (for its own length at most), so that the
// last harts are measured under the same contention.
#ifndef UNCORE_LOOP_H_
#define UNCORE_LOOP_H_

#include "uncore.h"

UC_PARAM(u64, ops, 100, "operations", "operations per hart, unless a duration is given");
UC_PARAM(duration, duration, 0, "ns",
         "run this long and count the operations; 0: do `ops` of them");
UC_PARAM(duration, patience, 0, "ns",
         "fail unless all harts have finished after this long; 0: wait for ever");
UC_OPTION(duration, loop_warmup, warmup, 0, "ns",
          "operations of that time come first, not counted");
UC_PARAM(u64, unclocked, 1, "operations", "operations of a timed run before it looks at the clock");

#define LOOP_LAST_PART 8  // the last operations take at most 1 / 8 of the length

enum loop_phase { LOOP_MEASURED, LOOP_WARMS_UP, LOOP_COOLS_DOWN };

// The number of harts that have begun a loop with a warm-up and not completed their measured part.
static struct loop_harts {
  UC_ALIGNED _Atomic uint64_t running;
} loop_harts __attribute__((unused));

struct loop {
  uint64_t left;       // operations still to do; in a timed loop, until the clock is read next
  uint64_t end_ns;     // when the timed loop or the warm-up ends; 0: the loop is not timed
  uint64_t length_ns;  // time from its beginning to its end
  uint64_t most;       // most operations between two readings of the clock
  uint64_t batch;      // operations between the last two readings
  uint64_t looked_ns;  // when the clock was read last
  uint64_t count;      // operations to do after the warm-up
  uint64_t phase;
};

static inline struct loop loop_timed(uint64_t length, uint64_t batch) {
  uint64_t now = uc_now();
  return (struct loop){.left = batch,
                       .end_ns = now + length,
                       .length_ns = length,
                       .most = batch,
                       .batch = batch,
                       .looked_ns = now};
}

// Makes a loop of `count` operations, or of as many as fit into `duration`, with a reading of the
// clock after every `batch` operations.
static inline struct loop loop_measured(uint64_t count, uint64_t batch) {
  return duration ? loop_timed(duration, batch) : (struct loop){.left = count};
}

// Makes such a loop with a warm-up before it, if there is one.
static inline struct loop loop_of(uint64_t count, uint64_t batch) {
  if (!loop_warmup) return loop_measured(count, batch);
  struct loop loop = loop_timed(loop_warmup, 1);
  loop.most = batch;
  loop.phase = LOOP_WARMS_UP;
  atomic_fetch_add_explicit(&loop_harts.running, 1, memory_order_relaxed);
  loop.count = count;
  return loop;
}

// Makes a loop without barrier and region of interest, for threads of which a hart runs several.
static inline struct loop loop_plan(void) { return loop_measured(ops, unclocked); }

// The two halves of loop_begin, for harts that do something in between, or do no operations.
static inline void loop_meet(void) {
  uc_barrier();
  if (patience && uc_id() == 0) uc_patience(patience);
}

static inline void loop_open(void) {
  if (loop_warmup)
    uc_warm_up();
  else
    uc_roi(true);
}

static inline struct loop loop_begin(void) {
  loop_meet();
  loop_open();
  return loop_of(ops, unclocked);
}

// Takes part in the barrier and the measurement without a loop: for a hart that serves the others.
static inline void loop_attend(void) {
  loop_meet();
  if (loop_warmup) uc_warm_up();
  uc_delay(loop_warmup);
  uc_roi(true);
}

// Begins the next phase of a loop, when the time of the present one is over.
static inline struct loop loop_next(struct loop loop) {
  if (loop.phase == LOOP_WARMS_UP) {
    uc_roi(true);
    return loop_measured(loop.count, loop.most);
  }
  if (loop.phase == LOOP_COOLS_DOWN || !loop_warmup) return loop;
  uc_roi(false);
  uc_warm_up();
  atomic_fetch_sub_explicit(&loop_harts.running, 1, memory_order_relaxed);
  loop = loop_timed(duration, 1);
  loop.phase = LOOP_COOLS_DOWN;
  return loop;
}

static inline bool loop_cooled_down(const struct loop* loop) {
  return loop->phase == LOOP_COOLS_DOWN &&
         !atomic_load_explicit(&loop_harts.running, memory_order_relaxed);
}

// Reads the clock and returns the loop with its next batch, which is empty once the time is over.
// The loop is passed by value, so that its counter stays in a register.
static __attribute__((noinline, unused)) struct loop loop_looked(struct loop loop) {
  uint64_t now = uc_now(), took = now - loop.looked_ns;
  if (now >= loop.end_ns) return loop_next(loop);
  if (loop_cooled_down(&loop)) return loop;
  uint64_t rest = loop.end_ns - now, most = loop.phase == LOOP_MEASURED ? loop.most : 1;
  uint64_t wanted = rest <= loop.length_ns / LOOP_LAST_PART ? rest : rest / 2;
  uint64_t fits = took ? loop.batch * wanted / took : most;
  loop.batch = fits < most ? fits : most;
  if (!loop.batch) loop.batch = 1;
  loop.left = loop.batch;
  loop.looked_ns = now;
  return loop;
}

static inline bool loop_more(struct loop* loop) {
  if (loop->end_ns && !loop->left) {
    // If the clock is read after each operation, no batch is computed, which would take a division.
    if (loop->most == 1 && loop->phase == LOOP_MEASURED && uc_now() < loop->end_ns) return true;
    *loop = loop_looked(*loop);
  }
  if (!loop->left) return false;
  loop->left--;
  return true;
}

// Ends the loop. A loop that has cooled down has closed the region of interest before.
static inline void loop_end(void) {
  if (!uc_self()->end_ns) uc_roi(false);
}

#endif  // UNCORE_LOOP_H_
