// A tournament: every pair of harts plays once, one pair at a time, while all other harts wait.
//
// It repeats a measurement between two harts for a whole machine in one run. Harts that do not play
// sleep until an interrupt makes them read their mailbox. A pair that has finished calls the next
// one, so the order is fixed without a coordinator: (0,1) (0,2) ... (1,2) ..., and each hart has
// its partners in ascending order. A run may play a part of the pairs only. Parts are independent,
// because each begins on an idle machine.
//
// With rest=spin, harts that do not play loop over a pause. If pauses are short, they take issue
// slots from a sibling that plays (rules H6.1 and H6.5); on real machines they heat the package.
//
// A pair starts to play when both harts are awake, so no wake-up is on its way meanwhile and a
// workload may count IPIs. Its handler asks pairs_playing() whether an IPI is part of the play.
//
//     pairs_setup(n)                      in uc_setup
//     pairs_run(id, n, play, conclude)    in uc_main, when every hart takes interrupts;
//                                         play(first, second) runs on both harts of a pair,
//                                         first < second, then conclude(first, second) on `first`
#ifndef UNCORE_PAIRS_H_
#define UNCORE_PAIRS_H_

#include "uncore.h"

enum pairs_mode { PAIRS_ALL, PAIRS_ONE };
UC_PARAM(choice, pairs, PAIRS_ALL, "all|one", "which pairs: every one in turn, or only (a, b)");
UC_PARAM(u64, a, 0, "hart", "with pairs=one: one hart of the pair");
UC_PARAM(u64, b, 1, "hart", "with pairs=one: the other");
UC_PARAM(u64, parts, 1, "parts", "with pairs=all: cut their order into so many equal parts");
UC_PARAM(u64, part, 0, "part", "and play this one, the first is 0");
enum pairs_rest { REST_SLEEP, REST_SPIN };
UC_PARAM(choice, rest, REST_SLEEP, "sleep|spin", "how harts wait that do not play");

static struct mailbox {
  UC_ALIGNED _Atomic unsigned partner;  // the hart to play with next, plus one
  _Atomic bool awake, done;             // set by the partner: it is awake; it has played
  _Atomic bool playing;
}* mailboxes;
static _Atomic bool pairs_over;
static uint64_t pairs_begin, pairs_until;  // range of pairs to play, in their order

static inline bool pairs_playing(void) {
  return atomic_load_explicit(&mailboxes[uc_id()].playing, memory_order_relaxed);
}

static inline void pairs_wake(unsigned hart) {
  if (rest == REST_SLEEP) uc_ipi(hart);
}

static inline void pairs_call(unsigned first, unsigned second) {
  atomic_store_explicit(&mailboxes[first].partner, second + 1, memory_order_release);
  atomic_store_explicit(&mailboxes[second].partner, first + 1, memory_order_release);
  pairs_wake(first);
  pairs_wake(second);
}

// Every call sends one interrupt, which is awaited here even if the mailbox has been read already.
static inline void pairs_await_call(unsigned id, unsigned partner) {
  _Atomic unsigned* own_partner = &mailboxes[id].partner;
  do {
    if (rest == REST_SLEEP)
      uc_wait();
    else
      uc_pause();
  } while (atomic_load_explicit(own_partner, memory_order_acquire) != partner + 1);
}

static inline void pairs_set(_Atomic bool* flag, bool value) {
  atomic_store_explicit(flag, value, memory_order_release);
}

static inline void pairs_await(_Atomic bool* flag) {
  while (!atomic_load_explicit(flag, memory_order_acquire)) uc_pause();
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
}

static inline void pairs_end(unsigned n) {
  pairs_set(&pairs_over, true);
  for (unsigned hart = 0; hart < n; hart++) pairs_wake(hart);
}

static inline void pairs_call_next(unsigned first, unsigned second, unsigned n) {
  uc_progress();
  if (pairs_place(first, second, n) + 1 == pairs_until)
    pairs_end(n);
  else if (second + 1 < n)
    pairs_call(first, second + 1);
  else
    pairs_call(first + 1, first + 2);
}

static inline bool pairs_plays(unsigned first, unsigned second, unsigned n) {
  uint64_t place = pairs_place(first, second, n);
  return first != second && place >= pairs_begin && place < pairs_until;
}

// The second hart reports that it is awake, and begins to play when the first has begun.
static inline void pairs_meet(unsigned id, unsigned first, unsigned second) {
  struct mailbox* self = &mailboxes[id];
  if (id == first) pairs_await(&self->awake);
  pairs_set(&self->playing, true);
  pairs_set(&mailboxes[id == first ? second : first].awake, true);
  if (id == second) pairs_await(&self->awake);
}

static inline void pairs_leave(unsigned id, unsigned first) {
  struct mailbox* self = &mailboxes[id];
  if (id == first) pairs_await(&self->done);
  self->awake = self->done = self->playing = false;
  if (id != first) pairs_set(&mailboxes[first].done, true);
}

// Plays this hart's part in a pair.
typedef void pairs_part(unsigned first, unsigned second);

static inline void pairs_run(unsigned id, unsigned n, pairs_part* play, pairs_part* conclude) {
  if (pairs_begin == pairs_until) return;
  if (id == 0) pairs_call_at(pairs_begin, n);
  for (unsigned partner = 0; partner < n; partner++) {
    unsigned first = id < partner ? id : partner, second = id < partner ? partner : id;
    if (!pairs_plays(first, second, n)) continue;
    pairs_await_call(id, partner);
    pairs_meet(id, first, second);
    play(first, second);
    pairs_leave(id, first);
    if (id != first) continue;
    conclude(first, second);
    pairs_call_next(first, second, n);
  }
  while (rest == REST_SLEEP && !pairs_over) uc_wait();
}

#endif  // UNCORE_PAIRS_H_
