// Four threads make random system calls with random and hostile arguments: `random_calls SEED`. A
// signal handler skips every faulting access. The results of the calls are not checked.
#include "raw.h"

enum { THREADS = 4, CALLS = 150, PAGE = 4096 };
static struct thread threads[THREADS];
static const short numbers[] = {
#define CALL(number, name) number,
#define PROGRESS CALL
#include "../../sim/native/os/calls.def"
    98,  98,  98,  98,  131, 165,
    173, 228, 291, 293, 425, 435,  // more futexes, and calls that do not exist
};
static const short rare[] = {93, 94, 129, 130, 139, 220, 221};  // these often end the run
static char* pages;  // in this order: two writable, one read-only, one inaccessible, one unmapped
static u32 word;

static int is_rare(long number) {
  for (u64 i = 0; i < sizeof rare / sizeof *rare; ++i)
    if (rare[i] == number) return 1;
  return 0;
}
static u64 draw(u64* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}
static u64 hostile(u64* state) {
  const u64 what = draw(state), small = draw(state) % 64;
  switch (what % 20) {
    case 0:
      return 0;
    case 1:
      return ~0UL - small;
    case 2:
      return 1UL << small;
    case 3:
      return (1UL << small) - 1;
    case 4:
      return draw(state);
    case 5:
      return (u64)pages + 2 * PAGE - small;  // crosses the end of the writable pages
    case 6:
      return (u64)pages + 3 * PAGE - small;
    case 7:
      return (u64)pages + 4 * PAGE + small;
    case 8:
      return (u64)pages + small % 5 * PAGE;
    case 9:
      return (u64)&word;
    case 10:
      return (u64)threads + small;
    case 11:
      return 1000 + small % 8;  // thread ids
    case 12:
      return (u64)hostile;  // code
    case 13:
      return (1UL << 38) - small;
    case 14:
      return small * PAGE;
    case 15:
      return (u64)pages + draw(state) % (2 * PAGE);
    default:
      return small;
  }
}
static void ignore_signal(int number) { (void)number; }
static void skip_access(int number, void* info, u64* context) {
  (void)number, (void)info;
  context[22] += 4;  // the pc
}
static void install_handlers(void) {
  const u64 fault[4] = {(u64)skip_access, 4 | 0x40000000, 0, 0},
            other[4] = {(u64)ignore_signal, 0, 0, 0};
  for (long number = 1; number < 32; ++number)
    call(N_rt_sigaction, number, number == 4 || number == 7 || number == 11 ? fault : other, 0, 8);
}
static long calls_at_random(long seed) {
  u64 state = (u64)seed * 0x9E3779B97F4A7C15 + 1;
  for (int i = 0; i < 10; ++i) draw(&state);
  for (int i = 0; i < CALLS; ++i) {
    const u64 which = draw(&state);
    const long number = which % 1024 ? numbers[which / 1024 % (sizeof numbers / sizeof *numbers)]
                                     : rare[which / 1024 % (sizeof rare / sizeof *rare)];
    if (which >> 40 & 1)  // changes memory to which arguments may point
      *(volatile u64*)(pages + draw(&state) % PAGE / 8 * 8) = hostile(&state);
    if (which % 1024 && is_rare(number)) continue;
    u64 a[6];
    for (int k = 0; k < 6; ++k) a[k] = hostile(&state);
    call6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    const u64 no_time[2] = {0, 1000};
    if (number == 98) call(N_nanosleep, no_time, 0), call(N_futex, &word, 1, 9);
  }
  return 0;
}

int run(int count, char** words) {
  long seed = 0;
  for (const char* s = count > 1 ? words[1] : "0"; *s; ++s) seed = seed * 10 + (*s - '0');
  pages = (char*)call(N_mmap, 0, 5 * PAGE, 3, 0x22, -1, 0);
  call(N_mprotect, pages + 2 * PAGE, PAGE, 1);
  call(N_mprotect, pages + 3 * PAGE, PAGE, 0);
  call(N_munmap, pages + 4 * PAGE, PAGE);
  install_handlers();
  for (long i = 0; i < THREADS; ++i) start(&threads[i], calls_at_random, seed * THREADS + i);
  const u64 millisecond[2] = {0, 1000000};
  for (int i = 0; i < 300; ++i) {  // a signal frees threads that wait for ever
    u32 ended = 0;
    call(N_nanosleep, millisecond, 0);
    for (int k = 0; k < THREADS; ++k)
      if (threads[k].done)
        call(N_tgkill, call(N_getpid), call(N_getpid) + 1 + k, 10);
      else if (++ended == THREADS)
        return 0;
  }
  return 0;
}
