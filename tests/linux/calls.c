// What each system call does, asked for by a word: exit status 0, or the number of what was wrong.
#include "raw.h"

static struct thread threads[40];
static u32 lock, count, turn, woken;

static void take(void) {
  for (u32 was; (was = __atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE));)
    call(N_futex, &lock, 128, 2, 0);
}
static void release(void) {
  __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  call(N_futex, &lock, 129, 1);
}
static long add(long times) {
  for (long i = 0; i < times; ++i) {
    take();
    ++count;
    release();
  }
  return 0;
}
static int locked(long many) {
  for (long i = 0; i < many; ++i) start(&threads[i], add, 20);
  for (long i = 0; i < many; ++i) join(&threads[i]);
  say_number(count);
  return count == 20 * many ? 0 : 1;
}

static long yields(long self) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != (u32)self) call(N_sched_yield);
  __atomic_store_n(&turn, self + 1, __ATOMIC_RELEASE);
  return 0;
}
static long spins(long self) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != (u32)self) {
  }
  __atomic_store_n(&turn, self + 1, __ATOMIC_RELEASE);
  return 0;
}
static int in_turn(long many, long (*how)(long)) {
  for (long i = many; i-- > 0;) start(&threads[i], how, i);
  for (long i = 0; i < many; ++i) join(&threads[i]);
  return turn == (u32)many ? 0 : 1;
}

static int memory(void) {
  const u64 page = 4096, size = 16 * page;
  const u64 heap = call(N_brk, 0);
  if (call(N_brk, heap + 100) != (long)(heap + 100)) return 1;
  *(char*)heap = 5;
  char* const huge = (char*)call(N_mmap, 0, 2UL << 30, 3, 0x22, -1, 0);
  huge[1UL << 30] = 7;
  if (huge[(1UL << 30) + 1] || huge[0]) return 2;
  char* const some = (char*)call(N_mmap, 0, size, 3, 0x22, -1, 0);
  for (u64 i = 0; i < size; i += 64) some[i] = 9;
  if (call(N_madvise, some, page, 4) != 0 || some[64] != 0 || some[page] != 9) return 3;
  if (call(N_mprotect, some, page, 0) != 0 || call(N_mprotect, some, page, 3) != 0) return 4;
  if (call(N_munmap, some + page, page) != 0) return 5;
  if (call(N_mmap, some + page, page, 3, 0x32, -1, 0) != (long)(some + page)) return 6;
  if (some[page] != 0 || some[2 * page] != 9) return 7;
  if (call(N_munmap, 1, page) != -22) return 8;
  if (call(N_mmap, 0, 1UL << 40, 3, 0x22, -1, 0) != -12) return 9;
  return 0;
}

static u64 now(void) {
  u64 time[2];
  call(N_clock_gettime, 1, time);
  return time[0] * 1000000000 + time[1];
}
static int sleeps(void) {
  const u64 wanted[2] = {0, 1500000}, begin = now();
  if (call(N_nanosleep, wanted, 0) != 0) return 1;
  const u64 took = now() - begin;
  if (took < 1500000 || took > 1600000) return 2;
  u32 word = 1;
  if (call(N_futex, &word, 0, 1, wanted) != -110) return 3;  // timed out
  if (call(N_futex, &word, 0, 2, 0) != -11) return 4;        // another value
  return now() - begin >= 3000000 ? 0 : 5;
}

// A thread that only waits for files is woken by time, and by the alarm.
static volatile int handled;
static void handler(int number) { handled = number; }
static int alarms(void) {
  const u64 action[4] = {(u64)handler, 0, 0, 0}, long_time[2] = {1, 0}, begin = now();
  u64 every[4] = {0, 200, 0, 300}, left[4];  // us: the interval, the value
  if (call(N_rt_sigaction, 14, action, 0, 8) != 0) return 1;
  if (call(N_setitimer, 0, every, 0) != 0) return 2;
  for (int i = 0; i < 2; ++i) {
    if (call(N_ppoll, 0, 0, long_time, 0) != -4 || handled != 14) return 3;
    handled = 0;
  }
  const u64 took = now() - begin;
  if (took < 500000 || took > 600000) return 4;
  every[1] = every[3] = 0;
  if (call(N_setitimer, 0, every, left) != 0 || left[1] != 200 || left[3] > 200) return 5;
  if (call(N_getitimer, 0, left) != 0 || left[1] || left[3]) return 6;
  return call(N_setitimer, 2, every, 0) == -22 ? 0 : 7;
}

static int polls(void) {
  struct {
    int file;
    short asked, found;
  } files[3] = {{1, 5, 0}, {77, 1, 0}, {-1, 1, 9}};
  const u64 a_while[2] = {0, 400000}, begin = now();
  if (call(N_ppoll, files, 3, 0, 0) != 2) return 1;
  if (files[0].found != 5 || files[1].found != 32 || files[2].found != 0) return 2;
  if (now() - begin > 100000) return 3;
  if (call(N_ppoll, files + 2, 1, a_while, 0) != 0 || now() - begin < 400000) return 4;
  return 0;
}

static long sleep_on(long unused) {
  (void)unused;
  while (__atomic_load_n(&woken, __ATOMIC_ACQUIRE) == 0) call(N_futex, &woken, 0, 0, 0);
  return 0;
}
static int requeued(void) {
  static u32 other;
  for (int i = 0; i < 3; ++i) start(&threads[i], sleep_on, 0);
  const u64 a_while[2] = {0, 200000};
  call(N_nanosleep, a_while, 0);
  if (call(N_futex, &woken, 4, 0, 2, &other, 9) != -11) return 1;
  if (call(N_futex, &woken, 4, 0, 2, &other, 0) != 2) return 2;
  __atomic_store_n(&woken, 1, __ATOMIC_RELEASE);
  if (call(N_futex, &woken, 1, 9) != 1) return 3;
  if (call(N_futex, &other, 1, 9) != 2) return 4;
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return 0;
}

static int places(long harts) {
  u64 set[8] = {0};
  if (call(N_sched_getaffinity, 0, sizeof set, set) != 8) return 1;
  if (set[0] != (1UL << harts) - 1) return 2;
  for (long h = harts; h-- > 0;) {
    const u64 only = 1UL << h;
    u32 cpu = 99, node = 99;
    if (call(N_sched_setaffinity, 0, 8, &only) != 0) return 3;
    if (call(N_getcpu, &cpu, &node) != 0 || cpu != h) return 4;
  }
  const u64 none = 1UL << harts;
  return call(N_sched_setaffinity, 0, 8, &none) == -22 ? 0 : 5;
}

static long waits_for_signal(long unused) {
  (void)unused;
  while (!handled) call(N_futex, &lock, 0, 0, 0);
  return 0;
}
static int signals(void) {
  const u64 action[4] = {(u64)handler, 0, 0, 0};
  if (call(N_rt_sigaction, 10, action, 0, 8) != 0) return 1;
  call(N_tgkill, call(N_getpid), call(N_gettid), 10);
  if (handled != 10) return 2;
  handled = 0;
  start(&threads[0], waits_for_signal, 0);
  const u64 a_while[2] = {0, 100000};
  call(N_nanosleep, a_while, 0);
  if (call(N_tgkill, call(N_getpid), threads[0].done, 10) != -3) return 3;  // tid is not told there
  call(N_tgkill, call(N_getpid), call(N_getpid) + 1, 10);
  join(&threads[0]);
  return handled == 10 ? 0 : 4;
}

static int barriers(void) {
  for (int i = 0; i < 3; ++i) start(&threads[i], sleep_on, 0);
  if (call(N_membarrier, 0, 0) < 8 || call(N_membarrier, 16, 0) != 0) return 1;
  for (int i = 0; i < 10; ++i)
    if (call(N_membarrier, 8, 0) != 0) return 2;
  __atomic_store_n(&woken, 1, __ATOMIC_RELEASE);
  call(N_futex, &woken, 1, 9);
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return call(N_rseq, 0, 0, 0, 0) == -38 ? 0 : 3;
}

static int prints_file(const char* path) {
  char text[300];
  const long file = call(N_openat, -100, path, 0, 0);
  if (file < 0) return (int)-file;
  for (long n; (n = call(N_read, file, text, sizeof text)) > 0;) call(N_write, 1, text, n);
  return call(N_close, file) == 0 ? 0 : 99;
}

static int deadlock(void) {
  start(&threads[0], sleep_on, 0);
  join(&threads[0]);
  return 0;
}

static int writes_nowhere(void) {
  *(volatile int*)16 = 1;
  return 0;
}

static int uses_vectors(void) {
  __asm__ volatile(".word 0x0d007057");  // vsetvli x0, x0, e32, m1
  return 0;
}

static int never_ends(void) {
  for (;;) __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

// Sleepers, on one stack that none of them leaves, until there may be no more.
static long crowds(void) {
  const u64 flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000;
  threads[0].run = sleep_on;
  for (long others = 0;; ++others) {
    const long got = start_thread(flags, threads[0].stack + sizeof threads[0].stack, 0, threads);
    if (got > 0) continue;
    say_number(1 + others);
    return got == -11 ? 0 : 1;
  }
}

static int forks(void) { return (int)call(N_clone, 17, 0); }

static int allocates(void) {
  for (;;) {
    char* const some = (char*)call(N_mmap, 0, 1 << 20, 3, 0x22, -1, 0);
    for (u64 i = 0; i < 1 << 20; i += 4096) some[i] = 1;
  }
}

int run(int words_count, char** words) {
  const char* const what = words_count > 1 ? words[1] : "words";
  const long n = words_count > 2 ? words[2][0] - '0' : 0;
  if (same(what, "words")) {
    for (int i = 1; i < words_count; ++i) say(words[i]), say("\n");
    return 0;
  }
  if (same(what, "status")) return (int)n;
  if (same(what, "unknown")) return (int)call(425, 1, 2);
  if (same(what, "memory")) return memory();
  if (same(what, "sleeps")) return sleeps();
  if (same(what, "locked")) return locked(n);
  if (same(what, "yields")) return in_turn(n, yields);
  if (same(what, "spins")) return in_turn(n, spins);
  if (same(what, "requeued")) return requeued();
  if (same(what, "places")) return places(n);
  if (same(what, "alarms")) return alarms();
  if (same(what, "polls")) return polls();
  if (same(what, "signals")) return signals();
  if (same(what, "barriers")) return barriers();
  if (same(what, "file")) return prints_file(words[2]);
  if (same(what, "deadlock")) return deadlock();
  if (same(what, "nowhere")) return writes_nowhere();
  if (same(what, "vectors")) return uses_vectors();
  if (same(what, "forever")) return never_ends();
  if (same(what, "crowds")) return (int)crowds();
  if (same(what, "forks")) return forks();
  if (same(what, "allocates")) return allocates();
  return 100;
}
