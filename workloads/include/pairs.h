// A tournament: every pair of harts meets once, one pair at a time, all others at rest.
//
// For measurements between two harts, repeated over a whole machine in one run. Harts that do not
// play wait on a line of their own (their mailbox); the pair that has finished wakes the next one,
// so the order is fixed and nobody coordinates. Pairs meet in the order (0,1) (0,2) ... (1,2) ...:
// seen from one hart, its partners come in ascending order. A run may play a part of them: parts
// are independent, each begins on a machine at rest.
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
UC_PARAM(u64, parts, 1, "parts", "with pairs=all: cut their order into so many equal parts");
UC_PARAM(u64, part, 0, "part", "and play this one, the first is 0");

static struct mailbox {
  UC_ALIGNED _Atomic unsigned partner;  // whom to play next, plus one
}* mailboxes;
static _Atomic bool pairs_over;
static bool pairs_sleep;
static uint64_t pairs_begin, pairs_until;  // which are played, by their place in the order

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

static inline uint64_t pairs_place(unsigned first, unsigned second, unsigned n) {
  uint64_t row = first;
  return row * n - row * (row + 1) / 2 + (second - first - 1);
}

static inline void pairs_choose(unsigned n) {
  uint64_t all = (uint64_t)n * (n - 1) / 2;
  pairs_begin = all * part / parts;
  pairs_until = all * (part + 1) / parts;
}

static inline void pairs_choose_one(unsigned n) {
  unsigned first = (unsigned)(a < b ? a : b), second = (unsigned)(a < b ? b : a);
  pairs_begin = pairs_place(first, second, n);
  pairs_until = pairs_begin + 1;
}

static inline void pairs_call_at(uint64_t place, unsigned n) {
  unsigned first = 0;
  for (; place >= n - first - 1; first++) place -= n - first - 1;
  pairs_call(first, first + 1 + (unsigned)place);
}

static inline void pairs_setup(unsigned n) {
  mailboxes = uc_alloc(n * sizeof *mailboxes, 0);
  bool differ = a != b && a < n && b < n;
  uc_check(pairs == PAIRS_ALL || differ,
           "pairs=one needs two different harts a and b, both less than the threads");
  uc_require(part < parts, "part must be less than parts");
  if (pairs == PAIRS_ALL)
    pairs_choose(n);
  else if (differ)
    pairs_choose_one(n);
  if (pairs_begin < pairs_until) pairs_call_at(pairs_begin, n);
}

// Whoever sleeps would miss the end.
static inline void pairs_end(unsigned n) {
  if (!pairs_sleep) return;
  atomic_store_explicit(&pairs_over, true, memory_order_release);
  for (unsigned hart = 0; hart < n; hart++) pairs_wake(hart);
}

static inline void pairs_call_next(unsigned first, unsigned second, unsigned n) {
  uc_progress();
  if (pairs_place(first, second, n) + 1 == pairs_until)
    pairs_end(n);
  else if (second + 1 < n)
    pairs_call_awake(first, second + 1);
  else
    pairs_call_awake(first + 1, first + 2);
}

static inline bool pairs_plays(unsigned first, unsigned second, unsigned n) {
  uint64_t place = pairs_place(first, second, n);
  return first != second && place >= pairs_begin && place < pairs_until;
}

static inline void pairs_run(unsigned id, unsigned n,
                             void (*play)(unsigned first, unsigned second)) {
  for (unsigned partner = 0; partner < n; partner++) {
    unsigned first = id < partner ? id : partner, second = id < partner ? partner : id;
    if (!pairs_plays(first, second, n)) continue;
    pairs_await(id, partner);
    play(first, second);
    if (id == first) pairs_call_next(first, second, n);
  }
  bool any = pairs_begin < pairs_until;
  while (pairs_sleep && any && !atomic_load_explicit(&pairs_over, memory_order_acquire)) uc_wait();
}

#endif  // UNCORE_PAIRS_H_
