// Threads that compete for harts: as many threads as harts or more, some pinned, some real-time.
// The arguments are a check and a number of threads. Exit status 0, or the number of the failed
// check.
#include "raw.h"

enum {
  WAIT = 0,
  WAKE = 1,
  MAX_THREADS = 64,
  ROUNDS = 20,
  SLOW = 1000000
};  // SLOW: ns, far less than a slice

static struct thread threads[MAX_THREADS];
static u32 lock, arrived, sense, count;

static void busy(u32 turns) {
  for (volatile u32 i = 0; i < turns; ++i) {
  }
}
static u32 swap(u32 value) { return __atomic_exchange_n(&lock, value, __ATOMIC_ACQUIRE); }
static void take(void) {
  if (!swap(1)) return;
  while (swap(2)) call(N_futex, &lock, WAIT, 2);
}
static void release(void) {
  if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2) call(N_futex, &lock, WAKE, 1);
}

static u32 slow_rounds;
static long spin_at_barriers(long self) {
  u64 before = now();
  for (u32 round = 1; round <= ROUNDS; ++round) {
    take();
    busy(200);
    release();
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == count) {
      arrived = 0;
      __atomic_store_n(&sense, round, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&sense, __ATOMIC_ACQUIRE) != round) {
    }
    const u64 t = now();
    if (self == 0) slow_rounds += t - before > SLOW;
    before = t;
  }
  return 0;
}
static long work_in_rounds(long self) {
  for (u32 round = 0; round < ROUNDS; ++round) {
    take();
    busy(100);
    release();
    busy(20000);
  }
  return self;
}
static void run_all(long (*run)(long)) {
  for (u32 i = 1; i < count; ++i) start(&threads[i], run, i);
  run(0);
  for (u32 i = 1; i < count; ++i) join(&threads[i]);
}
// No round may last as long as a slice, because there is a hart for each thread.
static int spinners_delay_no_round(void) {
  run_all(spin_at_barriers);
  return slow_rounds ? 1 : 0;
}
static int workers_finish_in_time(void) {
  const u64 alone = now();
  busy(20000);
  const u64 begin = now(), work = (begin - alone) * ROUNDS;
  run_all(work_in_rounds);
  return now() - begin < work + work / 2 + SLOW ? 0 : 1;
}

// Makes random calls that change affinities, policies and priorities.
static u64 draw(u64* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}
static u32 seed;
static long change_at_random(long self) {
  u64 state = (seed * MAX_THREADS + (u64)self) * 0x9E3779B97F4A7C15 + 1;
  for (int i = 0; i < 10; ++i) draw(&state);
  for (u32 round = 0; round < 12; ++round) {
    const u64 what = draw(&state), harts = draw(&state) | 1UL << draw(&state) % 4;
    const long other = call(N_getpid) + (long)(draw(&state) % (count + 1));
    const int priority = what >> 8 & 1 ? (int)(draw(&state) % 3) + 1 : 0;
    switch (what % 8) {
      case 0:
        call(N_sched_setaffinity, other, 8, &harts);
        break;
      case 1:
        call(N_sched_setscheduler, other, priority ? 1 + (what >> 9 & 1) : 0, &priority);
        break;
      case 2:
        call(N_sched_yield);
        break;
      case 3:
        pause_for(draw(&state) % 30000);
        break;
      case 4:
        take();
        busy(draw(&state) % 2000);
        release();
        break;
      case 5:
        call(N_membarrier, 8);
        break;
      case 6: {
        const u64 time[2] = {0, 20000};
        call(N_futex, &sense, WAIT, 0, time);
        break;
      }
      default:
        busy(draw(&state) % 20000);
        call(N_futex, &sense, WAKE, 2);
    }
  }
  return 0;
}
static int all_change_at_random(void) {
  seed = count, count = 9;
  run_all(change_at_random);
  return 0;
}

int run(int words, char** word) {
  static const struct {
    const char* word;
    int (*run)(void);
  } checks[] = {
      {"spinners", spinners_delay_no_round},
      {"workers", workers_finish_in_time},
      {"movers", all_change_at_random},
  };
  for (const char* s = words > 2 ? word[2] : ""; *s; ++s) count = count * 10 + (u32)(*s - '0');
  for (u64 i = 0; words > 2 && i < sizeof checks / sizeof *checks; ++i)
    if (same(word[1], checks[i].word)) return checks[i].run();
  return 100;
}
