// A tournament: every pair of harts meets once, one pair at a time, all others at rest.
//
// For measurements between two harts, repeated over a whole machine in one run. Harts that do not
// play wait on a line of their own (their mailbox); the pair that has finished wakes the next one,
// so the order is fixed and nobody coordinates. Pairs meet in the order (0,1) (0,2) ... (1,2) ...:
// seen from one hart, its partners come in ascending order.
//
// On a real machine harts that spin are not at rest: they heat the package, and take issue slots
// from a sibling that plays. There pairs_sleep, set before pairs_setup, puts them to sleep until an
// interrupt calls them.
//
//     pairs_setup(n)                 in uc_setup
//     pairs_run(id, n, play)         in uc_main; play(first, second) runs on both harts of a pair,
//                                    first < second, and returns on `first` when both are done
#ifndef UNCORE_PAIRS_H_
#define UNCORE_PAIRS_H_

#include "uncore.h"

enum pairs_mode { PAIRS_ALL, PAIRS_ONE };
UC_PARAM(choice, pairs, PAIRS_ALL, "all|one", "which pairs: every one in turn, or only (a, b)");
UC_PARAM(u64, a, 0, "hart", "with pairs=one: one hart of the pair");
UC_PARAM(u64, b, 1, "hart", "with pairs=one: the other");

static struct mailbox {
  UC_ALIGNED _Atomic unsigned partner;  // whom to play next, plus one
}* mailboxes;
static _Atomic bool pairs_over;
static bool pairs_sleep;

static inline void pairs_wake(unsigned hart) {
  if (pairs_sleep) uc_ipi(hart);
}

static inline void pairs_rest(void) {
  if (pairs_sleep)
    uc_wait();
  else
    uc_pause();
}

static inline void pairs_call(unsigned first, unsigned second) {
  atomic_store_explicit(&mailboxes[first].partner, second + 1, memory_order_release);
  atomic_store_explicit(&mailboxes[second].partner, first + 1, memory_order_release);
}

static inline void pairs_call_awake(unsigned first, unsigned second) {
  pairs_call(first, second);
  pairs_wake(first);
  pairs_wake(second);
}

static inline void pairs_await(unsigned id, unsigned partner) {
  _Atomic unsigned* mine = &mailboxes[id].partner;
  while (atomic_load_explicit(mine, memory_order_acquire) != partner + 1) pairs_rest();
}

static inline unsigned pairs_first(void) { return (unsigned)(a < b ? a : b); }
static inline unsigned pairs_second(void) { return (unsigned)(a < b ? b : a); }

static inline void pairs_setup(unsigned n) {
  mailboxes = uc_alloc(n * sizeof *mailboxes, 0);
  if (pairs == PAIRS_ALL) {
    if (n > 1) pairs_call(0, 1);
  } else if (a == b || pairs_second() >= n) {
    uc_check(false, "pairs=one needs two different harts a and b, both less than the threads");
  } else {
    pairs_call(pairs_first(), pairs_second());
  }
}

// Whoever sleeps would miss the end.
static inline void pairs_end(unsigned n) {
  if (!pairs_sleep) return;
  atomic_store_explicit(&pairs_over, true, memory_order_release);
  for (unsigned hart = 0; hart < n; hart++) pairs_wake(hart);
}

static inline void pairs_call_next(unsigned first, unsigned second, unsigned n) {
  uc_progress();
  if (pairs == PAIRS_ALL && second + 1 < n)
    pairs_call_awake(first, second + 1);
  else if (pairs == PAIRS_ALL && first + 2 < n)
    pairs_call_awake(first + 1, first + 2);
  else
    pairs_end(n);
}

static inline bool pairs_plays(unsigned id, unsigned partner) {
  if (pairs == PAIRS_ALL) return id != partner;
  return (id == a && partner == b) || (id == b && partner == a && a != b);
}

static inline void pairs_run(unsigned id, unsigned n,
                             void (*play)(unsigned first, unsigned second)) {
  for (unsigned partner = 0; partner < n; partner++) {
    if (!pairs_plays(id, partner)) continue;
    unsigned first = id < partner ? id : partner, second = id < partner ? partner : id;
    pairs_await(id, partner);
    play(first, second);
    if (id == first) pairs_call_next(first, second, n);
  }
  while (pairs_sleep && n > 1 && !atomic_load_explicit(&pairs_over, memory_order_acquire))
    uc_wait();
}

#endif  // UNCORE_PAIRS_H_
