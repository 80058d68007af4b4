// Two harts hand one line back and forth with compare-and-swap: the latency of one handoff.
//
// Most published core-to-core matrices are measured like this: two pinned threads alternate a
// compare-and-swap on one flag, PING to PONG and back; the latency is elapsed time / round trips /
// 2. Both spin with the compare-and-swap itself, so the loser requests the line again at once, and
// its request waits at the ordering point when the winner's response passes. So the policy of the
// ordering point decides the figure, not only the distance. On x86 a failing compare-and-swap
// fetches the line exclusively too; here it is LR/SC, and the core model decides what an LR
// requests.
//
// All pairs of a run use the same flag, that is one physical line with one home, as in the measured
// matrices. With flags=own a pair uses the flag of its first hart, which that hart touched first,
// so the home is near the pair, as on machines whose matrices do not depend on a home. PING is even
// and PONG odd: the flag counts, so every handoff expects a new value, and a lost or repeated
// handoff or a stale copy is noticed.
//
// On a real machine interrupts disturb some handoffs, which must be distinguished from slow ones.
// There one takes many samples, whose median and spread are published too.
//
// Check: a waiting hart sees only the flag's previous value, and the count is complete.
#include "pairs.h"
#include "uncore.h"

UC_WORKLOAD("Core-to-core latency: two harts hand one line over with compare-and-swap");
UC_PARAM(u64, rounds, 100, "round trips", "measured round trips per pair");
UC_PARAM(u64, warmup, 5, "round trips", "round trips before them, at least one, not measured");
UC_PARAM(u64, flag_node, 0, "node", "memory node of the flag's line");
enum { FLAGS_ONE, FLAGS_OWN };
UC_PARAM(choice, flags, FLAGS_ONE, "one|own",
         "one flag for all pairs, or a pair uses its first hart's");
UC_PARAM(u64, samples, 1, "samples", "of `rounds` each, per pair; their mean is the handoff");
UC_TABLE(handoff, "ps", "one-way handoff between hart of the row and hart of the column");

UC_TABLE(median, "ps", "of the samples, if there are several");
UC_TABLE(deviation, "ps", "half of what the middle half of the samples spans");

#define PAGE 4096  // unit in which a first-touch policy places memory, in bytes

static char* flag;      // the first flag; with flags=own the others follow, a page apart
static uint64_t* seen;  // the current pair's samples, in ascending order

static _Atomic uint32_t* flag_of(unsigned hart) {
  return (_Atomic uint32_t*)(flags == FLAGS_OWN ? flag + (size_t)hart * PAGE : flag);
}

void uc_setup(unsigned n) {
  if (flags == FLAGS_OWN) {
    uintptr_t block = (uintptr_t)uc_alloc(((size_t)n + 1) * PAGE, (unsigned)flag_node);
    flag = (char*)((block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
  } else {
    flag = uc_alloc(sizeof(_Atomic uint32_t), (unsigned)flag_node);
  }
  uc_table_make(&handoff, n, n);
  uc_require(warmup && samples, "warmup and samples must be 1 or more");
  if (samples > 1) {
    uc_table_make(&median, n, n);
    uc_table_make(&deviation, n, n);
    seen = uc_alloc(samples * sizeof *seen, (unsigned)flag_node);
  }
  pairs_setup(n);
}

// Waits for the flag to be `ours` and hands it over. Returns false if it has an impossible value.
static inline bool hand_over(_Atomic uint32_t* line, uint32_t ours) {
  uint32_t seen;
  do {
    seen = ours;
    if (atomic_compare_exchange_strong(line, &seen, ours + 1)) return true;
  } while (seen == ours - 1);
  return false;
}

static bool hand_over_often(_Atomic uint32_t* line, uint32_t ours, uint64_t times) {
  for (; times; times--, ours += 2)
    if (!hand_over(line, ours)) return false;
  return true;
}

static void publish(const struct uc_table* table, unsigned first, unsigned second, uint64_t ps) {
  *uc_cell(table, first, second) = *uc_cell(table, second, first) = ps;
}

static uint64_t per_handoff(uint64_t ns) { return rounds ? ns * 1000 / (2 * rounds) : 0; }

static void keep(uint64_t sample, uint64_t before) {
  for (; before && seen[before - 1] > sample; before--) seen[before] = seen[before - 1];
  seen[before] = sample;
}

static void publish_spread(unsigned first, unsigned second) {
  uint64_t span = seen[samples * 3 / 4] - seen[samples / 4];
  publish(&median, first, second, per_handoff(seen[samples / 2]));
  publish(&deviation, first, second, per_handoff(span) / 2);
}

// Plays the first hart's part: it waits for the even values, and measures the time.
static void measure(unsigned first, unsigned second) {
  _Atomic uint32_t* line = flag_of(first);
  uint32_t start = 2 * (uint32_t)warmup, step = 2 * (uint32_t)rounds;
  bool right = hand_over_often(line, 0, warmup);
  uint64_t elapsed = 0;
  for (uint64_t sample = 0; sample < samples; sample++, start += step) {
    uint64_t begin = uc_now();
    right = right && hand_over_often(line, start, rounds);
    uint64_t took = uc_now() - begin;
    elapsed += took;
    if (samples > 1) keep(took, sample);
  }
  uc_check(right, "the flag was seen in a state that the other hart had left");
  publish(&handoff, first, second, per_handoff(elapsed) / samples);
  if (samples > 1) publish_spread(first, second);
}

static void play(unsigned first, unsigned second) {
  uc_start();
  if (uc_id() == first)
    measure(first, second);
  else
    uc_check(hand_over_often(flag_of(first), 1, warmup + rounds * samples),
             "the flag was seen in a state that the other hart had left");
  uc_ops(rounds * samples);
}

// Resets the flag. The next pair's mailboxes order this store before its loads.
static void conclude(unsigned first, unsigned second) {
  (void)second;
  atomic_store_explicit(flag_of(first), 0, memory_order_relaxed);
}

void uc_main(unsigned id, unsigned n) {
  if (flags == FLAGS_OWN) atomic_store_explicit(flag_of(id), 0, memory_order_relaxed);
  uc_barrier();
  uc_roi(true);
  pairs_run(id, n, play, conclude);
  uc_roi(false);
}
