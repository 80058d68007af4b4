// The guest half of litmus tests: runs each test many times, from many starting points.
//
// A generated C file (sim/uncore/study/litmus) includes this header and defines the array
// litmus_tests. Each round draws: which hart plays which thread, which lines are the locations, who
// has copies of them before, and how long each thread waits before it starts. Every hart computes
// the same draws from the seed. The values that the loads returned and that memory holds afterwards
// are one outcome: a number with LITMUS_BITS for each value.
//
// Published: for each test a row of pairs: an outcome plus one, and how often it was seen.
#ifndef UNCORE_LITMUS_H_
#define UNCORE_LITMUS_H_

#include "uncore.h"

UC_PARAM(u64, rounds, 50, "rounds", "how often each test runs");
UC_PARAM(u64, seed, 1, "", "where chance begins");
UC_PARAM(duration, window, 120, "ns", "threads start this far apart, at most");

enum { LITMUS_THREADS = 4, LITMUS_LINES = 16 };
#ifndef LITMUS_WIDE  // imported test suites define their own limits (tests/foreign)
enum { LITMUS_LOCATIONS = 3, LITMUS_LOADS = 3, LITMUS_OUTCOMES = 48, LITMUS_BITS = 2 };
typedef uint32_t litmus_word;
#endif

UC_TABLE(seen, "", "outcome plus one, times seen, and so on, for each test");

typedef volatile litmus_word* litmus_location;
typedef void litmus_thread(const litmus_location* at, litmus_word* out);

struct litmus_test {
  unsigned threads, locations;
  unsigned loads[LITMUS_THREADS];
  litmus_thread* thread[LITMUS_THREADS];
};
extern const struct litmus_test litmus_tests[];
extern const unsigned litmus_count;
#ifdef LITMUS_WIDE
static litmus_word litmus_initial(unsigned test, unsigned location);
static unsigned litmus_code(const litmus_location* at, litmus_word value);  // fits LITMUS_BITS
#else
static inline litmus_word litmus_initial(unsigned test, unsigned location) {
  (void)test, (void)location;
  return 0;
}
static inline unsigned litmus_code(const litmus_location* at, litmus_word value) {
  (void)at;
  return value;
}
#endif

static struct litmus_block {
  UC_ALIGNED volatile litmus_word word;
}* litmus_lines;

static struct litmus_out {
  UC_ALIGNED litmus_word value[LITMUS_LOADS];
}* litmus_outs;

static struct litmus_start {
  UC_ALIGNED _Atomic uint64_t time;
}* litmus_start;

void uc_setup(unsigned n) {
  litmus_lines = uc_alloc(LITMUS_LINES * sizeof *litmus_lines, 0);
  litmus_outs = uc_alloc(n * sizeof *litmus_outs, 0);
  litmus_start = uc_alloc(sizeof *litmus_start, 0);
  uc_table_make(&seen, litmus_count, 2 * LITMUS_OUTCOMES);
  uc_check(n >= LITMUS_THREADS, "litmus tests have up to four threads: run them with --threads 4");
}

// Returns the n-th random number of a stream by SplitMix64 (Steele, Lea and Flood 2014).
static inline uint64_t litmus_chance(uint64_t stream, uint64_t n) {
  uint64_t z = stream + n * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The draws of one round. Every hart computes the same.
struct litmus_round {
  const struct litmus_test* test;
  uint64_t stream;
  unsigned first;  // the hart that plays thread 0
  litmus_location at[LITMUS_LOCATIONS];
};

// Returns the first line, from `line` on, that is none of the first `count` locations.
static inline unsigned litmus_free(const struct litmus_round* round, unsigned count,
                                   unsigned line) {
  for (unsigned i = 0; i < count; i++)
    if (round->at[i] == &litmus_lines[line % LITMUS_LINES].word) i = -1u, line++;
  return line;
}

static inline struct litmus_round litmus_round(unsigned test, uint64_t number, unsigned n) {
  uint64_t stream = litmus_chance(seed, ((uint64_t)test << 32) + number + 1);
  uint64_t lines = litmus_chance(stream, 2);
  unsigned one = lines % LITMUS_LINES, step = 1 + (lines >> 32) % (LITMUS_LINES - 1);
  unsigned other = 1 + (lines >> 48) % (LITMUS_LINES - 2);  // so that the three lines differ
  other += other >= step;
  struct litmus_round round = {.test = &litmus_tests[test],
                               .stream = stream,
                               .first = (unsigned)(litmus_chance(stream, 1) % n)};
  for (unsigned i = 0; i < LITMUS_LOCATIONS; i++) {
    unsigned line = i == 0 ? one : one + (i == 1 ? step : other);
    if (i > 2) line = litmus_free(&round, i, one);
    round.at[i] = &litmus_lines[line % LITMUS_LINES].word;
  }
  return round;
}

static inline litmus_word litmus_at_first(const struct litmus_round* round, unsigned location) {
  return litmus_initial((unsigned)(round->test - litmus_tests), location);
}

// Gives harts copies of the locations before the start: each location has no copy, copies in some
// readers' caches, or one in a writer's, which stores the value that is already there.
static inline void litmus_warm(const struct litmus_round* round, unsigned id, unsigned n) {
  for (unsigned i = 0; i < round->test->locations; i++) {
    uint64_t chance = litmus_chance(round->stream, 3 + i);
    unsigned kind = chance & 3;
    if (kind == 1 && (chance >> (8 + id % 32) & 1)) (void)*round->at[i];
    if (kind >= 2 && (chance >> 8) % n == id) *round->at[i] = litmus_at_first(round, i);
  }
}

static inline void litmus_play(const struct litmus_round* round, unsigned id, unsigned n) {
  unsigned thread = (id + n - round->first) % n;
  uint64_t skew = litmus_chance(round->stream, 16 + thread) % (window + 1);
  uint64_t begin = atomic_load_explicit(&litmus_start->time, memory_order_relaxed) + skew;
  litmus_word value[LITMUS_LOADS] = {0};
  if (thread < round->test->threads) {
    litmus_thread* play = round->test->thread[thread];
    uint64_t now = uc_now();
    if (now < begin) uc_delay(begin - now);
    play(round->at, value);
  }
  for (unsigned i = 0; i < LITMUS_LOADS; i++) litmus_outs[id].value[i] = value[i];
}

static inline uint64_t litmus_seen(const struct litmus_round* round, litmus_word value) {
  return litmus_code(round->at, value);
}

static inline uint64_t litmus_outcome(const struct litmus_round* round, unsigned n) {
  uint64_t outcome = 0;
  unsigned shift = 0;
  for (unsigned thread = 0; thread < round->test->threads; thread++)
    for (unsigned i = 0; i < round->test->loads[thread]; i++, shift += LITMUS_BITS)
      outcome |= litmus_seen(round, litmus_outs[(round->first + thread) % n].value[i]) << shift;
  for (unsigned i = 0; i < round->test->locations; i++, shift += LITMUS_BITS)
    outcome |= litmus_seen(round, *round->at[i]) << shift;
  return outcome;
}

static inline void litmus_tally(unsigned test, uint64_t outcome) {
  unsigned i = 0;
  while (i < LITMUS_OUTCOMES && *uc_cell(&seen, test, 2 * i) &&
         *uc_cell(&seen, test, 2 * i) != outcome + 1)
    i++;
  uc_check(i < LITMUS_OUTCOMES, "more different outcomes than the table has room for");
  if (i == LITMUS_OUTCOMES) return;
  *uc_cell(&seen, test, 2 * i) = outcome + 1;
  ++*uc_cell(&seen, test, 2 * i + 1);
}

static inline void litmus_prepare(const struct litmus_round* round) {
  for (unsigned i = 0; i < round->test->locations; i++) *round->at[i] = litmus_at_first(round, i);
}

void uc_main(unsigned id, unsigned n) {
  if (n < LITMUS_THREADS) return;
  uc_roi(true);
  for (unsigned test = 0; test < litmus_count; test++) {
    for (uint64_t number = 0; number < rounds; number++) {
      struct litmus_round round = litmus_round(test, number, n);
      if (id == 0) litmus_prepare(&round);
      uc_barrier();
      litmus_warm(&round, id, n);
      uc_barrier();  // all copies are placed before hart 0 sets the start
      if (id == 0)
        atomic_store_explicit(&litmus_start->time, uc_now() + 2000, memory_order_relaxed);
      uc_barrier();
      litmus_play(&round, id, n);
      uc_barrier();
      if (id != 0) continue;
      litmus_tally(test, litmus_outcome(&round, n));
      uc_op();
    }
  }
  uc_roi(false);
}

#endif  // UNCORE_LITMUS_H_
