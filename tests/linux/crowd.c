// Threads that meet on harts: as many as there are, more, some pinned, some urgent. Asked for by a
// word and a number; exit status 0, or the number of what was wrong.
#include "raw.h"

enum { WAIT = 0, WAKE = 1, MOST = 64, ROUNDS = 20, SLOW = 1000000 };  // ns: far less than a slice

static struct thread threads[MOST];
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

static u32 slow;
static long meets(long self) {
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
    if (self == 0) slow += t - before > SLOW;
    before = t;
  }
  return 0;
}
static long works(long self) {
  for (u32 round = 0; round < ROUNDS; ++round) {
    take();
    busy(100);
    release();
    busy(20000);
  }
  return self;
}
static void all(long (*run)(long)) {
  for (u32 i = 1; i < count; ++i) start(&threads[i], run, i);
  run(0);
  for (u32 i = 1; i < count; ++i) join(&threads[i]);
}
// Checks that no round lasts as long as a slice if there is a hart for each thread.
static int nobody_waits_behind_a_spinner(void) {
  all(meets);
  return slow ? 1 : 0;
}
static int nobody_waits_behind_a_worker(void) {
  const u64 alone = now();
  busy(20000);
  const u64 begin = now(), work = (begin - alone) * ROUNDS;
  all(works);
  return now() - begin < work + work / 2 + SLOW ? 0 : 1;
}

// Random calls that change affinities, policies and priorities.
static u64 draw(u64* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}
static u32 seed;
static long moves_about(long self) {
  u64 state = (seed * MOST + (u64)self) * 0x9E3779B97F4A7C15 + 1;
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
static int everybody_moves_about(void) {
  seed = count, count = 9;
  all(moves_about);
  return 0;
}

int run(int words, char** word) {
  static const struct {
    const char* word;
    int (*run)(void);
  } each[] = {
      {"spinners", nobody_waits_behind_a_spinner},
      {"workers", nobody_waits_behind_a_worker},
      {"movers", everybody_moves_about},
  };
  for (const char* s = words > 2 ? word[2] : ""; *s; ++s) count = count * 10 + (u32)(*s - '0');
  for (u64 i = 0; words > 2 && i < sizeof each / sizeof *each; ++i)
    if (same(word[1], each[i].word)) return each[i].run();
  return 100;
}
