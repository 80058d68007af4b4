// Checks the system calls that the argument names. Exit status 0, or the failed check's number.
#include "raw.h"

static struct thread threads[40];
static u32 lock, count, turn, woken;

static void take(void) {
  for (u32 previous; (previous = __atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE));)
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

static long yield_until_turn(long self) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != (u32)self) call(N_sched_yield);
  __atomic_store_n(&turn, self + 1, __ATOMIC_RELEASE);
  return 0;
}
static long spin_until_turn(long self) {
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

static int sleeps(void) {
  const u64 wanted[2] = {0, 1500000}, begin = now();
  if (call(N_nanosleep, wanted, 0) != 0) return 1;
  const u64 took = now() - begin;
  if (took < 1500000 || took > 1600000) return 2;
  u32 word = 1;
  if (call(N_futex, &word, 0, 1, wanted) != -110) return 3;  // ETIMEDOUT
  if (call(N_futex, &word, 0, 2, 0) != -11) return 4;        // EAGAIN: another value
  return now() - begin >= 3000000 ? 0 : 5;
}

// A thread that waits in ppoll() without files is woken by its time-out and by the alarm.
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
  return call(N_setitimer, 3, every, 0) == -22 ? 0 : 7;
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
  if (call(N_tgkill, call(N_getpid), threads[0].done, 10) != -3) return 3;  // `done` is no tid
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

// Starts sleeping threads until clone() refuses. All use one stack, and none of them returns.
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

// ---- descriptors and eventfd

static long event;
static u64 moved;
static long writes_later(long value) {
  const u64 more = value;
  pause_for(200000);
  return call(N_write, event, &more, 8);
}
static long reads_later(long unused) {
  (void)unused;
  pause_for(200000);
  return call(N_read, event, &moved, 8);
}
static void writes_in_handler(int number) {
  const u64 more = number;
  call(N_write, event, &more, 8);
}
static long read_event(void) {
  u64 value = 0;
  const long size = call(N_read, event, &value, 8);
  return size == 8 ? (long)value : size;
}
static long write_event(u64 value) { return call(N_write, event, &value, 8); }

enum { EFD_SEMAPHORE = 1, EFD_NONBLOCK = 04000, EAGAIN = 11, EINVAL = 22, EINTR = 4 };
static int events(void) {
  u64 value;
  event = call(N_eventfd2, 5, EFD_NONBLOCK);
  if (event < 0 || call(N_eventfd2, 0, 2) != -EINVAL) return 1;
  if (call(N_read, event, &value, 7) != -EINVAL || call(N_write, event, &value, 7) != -EINVAL)
    return 2;
  if (read_event() != 5 || read_event() != -EAGAIN) return 3;
  if (write_event(-1UL) != -EINVAL || write_event(-2UL) != 8 || write_event(1) != -EAGAIN) return 4;
  event = call(N_eventfd2, 2, EFD_SEMAPHORE | EFD_NONBLOCK);
  if (read_event() != 1 || read_event() != 1 || read_event() != -EAGAIN) return 5;
  return 0;
}

static int events_wait(void) {
  struct {
    int file;
    short asked, found;
  } file;
  event = call(N_eventfd2, 0, 0);
  start(&threads[0], writes_later, 7);
  if (read_event() != 7) return 1;
  join(&threads[0]);
  file.file = (int)event, file.asked = 5;
  if (call(N_ppoll, &file, 1, 0, 0) != 1 || file.found != 4) return 2;
  start(&threads[1], writes_later, -2);
  file.asked = 1;
  if (call(N_ppoll, &file, 1, 0, 0) != 1 || file.found != 1) return 3;
  join(&threads[1]);
  start(&threads[2], reads_later, 0);
  if (write_event(9) != 8) return 4;
  join(&threads[2]);
  return moved == -2UL && read_event() == 9 ? 0 : 5;
}

// A handler ends a waiting read; with SA_RESTART the read continues.
static int events_are_interrupted(void) {
  u64 action[4] = {(u64)handler, 0, 0, 0}, once[4] = {0, 0, 0, 200};
  event = call(N_eventfd2, 0, 0);
  call(N_rt_sigaction, 14, action, 0, 8);
  call(N_setitimer, 0, once, 0);
  if (read_event() != -EINTR || handled != 14) return 1;
  action[0] = (u64)writes_in_handler, action[1] = 0x10000000;
  call(N_rt_sigaction, 14, action, 0, 8);
  call(N_setitimer, 0, once, 0);
  return read_event() == 14 ? 0 : 2;
}

static int descriptors(void) {
  char text[10];
  const long file = call(N_openat, -100, "/proc/cpuinfo", 0, 0), twin = call(N_dup, file);
  if (file < 3 || call(N_read, file, text, 10) != 10) return 1;
  if (call(N_lseek, twin, 0, 1) != 10) return 2;
  if (call(N_dup3, file, 30, 0) != 30 || call(N_lseek, 30, 5, 1) != 15) return 3;
  if (call(N_dup3, file, file, 0) != -22 || call(N_dup3, 99, 30, 0) != -9) return 4;
  if (call(N_close, file) != 0 || call(N_lseek, twin, 0, 1) != 15) return 5;
  if (call(N_fcntl, twin, 0, 20) != 20 || call(N_lseek, 20, 0, 1) != 15) return 6;
  return call(N_lseek, file, 0, 1) == -9 ? 0 : 7;
}

static int limits(void) {
  u64 limit[2], lower[2] = {42, 42};
  if (call(N_prlimit64, 0, 7, lower, 0) != 0) return 1;
  if (call(N_prlimit64, 0, 7, 0, limit) != 0 || limit[0] != 42 || limit[1] != 42) return 2;
  if (call(N_dup3, 1, 42, 0) != -9 || call(N_dup3, 1, 41, 0) != 41) return 3;
  long next;
  while ((next = call(N_dup, 1)) >= 0)
    if (next >= 42) return 4;
  if (next != -24) return 5;
  lower[0] = 43;
  return call(N_prlimit64, 0, 7, lower, 0) == -22 ? 0 : 6;
}

// One thread closes and reopens the file that another one reads and maps, while further threads
// hold the lock of the address space.
static volatile int finished;
static long reopen_repeatedly(long file) {
  for (long wait = 0; !finished; wait = (wait * 7 + 13) % 200) {
    call(N_close, file);
    for (volatile long i = 0; i < wait; ++i) {
    }
    call(N_openat, -100, "/files/some/text", 0, 0);
    for (volatile long i = 0; i < 300; ++i) {
    }
  }
  return 0;
}
static long map_repeatedly(long unused) {
  (void)unused;
  while (!finished) call(N_munmap, call(N_mmap, 0, 4096, 1, 0x22, -1, 0), 4096);
  return 0;
}
static int reopened(void) {
  static char text[64];
  const long file = call(N_openat, -100, "/files/some/text", 0, 0);
  start(&threads[0], reopen_repeatedly, file);
  start(&threads[1], map_repeatedly, 0);
  start(&threads[2], map_repeatedly, 0);
  for (int i = 0; i < 500; ++i) {
    const long got = call(N_read, file, text, sizeof text);
    const long at = call(N_mmap, 0, 4096, 1, 2, file, 0);
    if (got < 0 && got != -9) return 1;
    if (at < 0 && at != -9) return 2;
    if (at > 0 && *(char*)at != 'a') return 3;
    if (at > 0) call(N_munmap, at, 4096);
  }
  finished = 1;
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return 0;
}

// ---- ranges

static int ranges(void) {
  static char area[128] __attribute__((aligned(64)));
  enum { EFAULT = 14, WAKE_OP = 5 };
  if (call(N_write, 1, -16, 16) != -EFAULT || call(N_write, 1, -4096, 65536) != -EFAULT) return 1;
  if (call(N_write, 1, area, 1UL << 63) != -EFAULT || call(N_write, 1, -16, 32) != -EFAULT)
    return 2;
  if (call(N_uname, -8) != -EFAULT || call(N_clock_gettime, 1, -8) != -EFAULT) return 3;
  if (call(N_openat, -100, -1, 0, 0) != -EFAULT || call(N_futex, -4, 0, 0, 0) != -EFAULT) return 4;
  if (call(N_futex, area, WAKE_OP, 1, 1, area + 63, 0xfff) != -EINVAL) return 5;
  for (u64 i = 0; i < sizeof area; ++i)
    if (area[i]) return 6;
  return 0;
}

// ---- signals

struct info {
  int number, error, code, pad;
  u64 value, rest[13];
};
static volatile struct info last;
static void record_info(int number, struct info* info, u64* context) {
  (void)number;
  last.number = info->number, last.code = info->code, last.value = info->value;
  if (info->number == 11) context[22] += 4;  // SIGSEGV: the pc skips the access
}
static void record_signal(long number) {
  const u64 action[4] = {(u64)record_info, 4, 0, 0};
  call(N_rt_sigaction, number, action, 0, 8);
}

static int senders(void) {
  const u64 pid = call(N_getpid);
  record_signal(10);
  call(N_tgkill, pid, call(N_gettid), 10);
  if (last.number != 10 || last.code != -6 || (u32)last.value != pid) return 1;
  call(N_kill, pid, 10);
  if (last.number != 10 || last.code != 0 || (u32)last.value != pid) return 2;
  return call(N_kill, pid, 0) == 0 && call(N_kill, pid, 65) == -22 ? 0 : 3;
}

static void store_to(long address) {
  __asm__ volatile(".option push\n.option norvc\nsw zero, 0(%0)\n.option pop" ::"r"(address)
                   : "memory");
}
static int faults(void) {
  enum { SEGV_MAPERR = 1, SEGV_ACCERR = 2 };
  record_signal(11);
  store_to(16);
  if (last.code != SEGV_MAPERR || last.value != 16) return 1;
  const long page = call(N_mmap, 0, 8192, 1, 0x22, -1, 0);
  store_to(page);
  if (last.code != SEGV_ACCERR || last.value != (u64)page) return 2;
  call(N_mprotect, page, 4096, 3);
  store_to(page + 4092);
  call(N_mprotect, page, 4096, 0);
  store_to(page + 8);
  return last.code == SEGV_ACCERR && last.value == (u64)page + 8 ? 0 : 3;
}

static void block(int how, long number) {
  const u64 set = 1UL << (number - 1);
  call(N_rt_sigprocmask, how, &set, 0, 8);
}
static long unblocks(long number) {
  block(1, number);
  return 0;
}
static int process_signals(void) {
  record_signal(10);
  block(0, 10);
  call(N_kill, call(N_getpid), 10);
  start(&threads[0], unblocks, 10);
  join(&threads[0]);
  if (last.number != 10) return 1;
  last.number = 0;
  block(1, 10);
  return last.number == 0 ? 0 : 2;
}

static long kill_later(long number) {
  pause_for(200000);
  return call(N_kill, call(N_getpid), number);
}
static int awaited(void) {
  const u64 set = 1UL << 9, a_while[2] = {0, 100000};
  static struct info info;
  block(0, 10);
  if (call(N_rt_sigtimedwait, &set, &info, a_while, 8) != -EAGAIN) return 1;
  start(&threads[0], kill_later, 10);
  if (call(N_rt_sigtimedwait, &set, &info, 0, 8) != 10 || info.number != 10) return 2;
  join(&threads[0]);
  return (u32)info.value == call(N_getpid) && info.code == 0 ? 0 : 3;
}

static volatile u32 sleeper, turns;
static volatile long interrupted;
static long sleep_until_signal(long rounds) {
  const u64 long_time[2] = {0, 50000000};
  sleeper = call(N_gettid);
  for (long i = 1; i <= rounds; ++i) {
    turns = i;
    for (volatile long d = 0; d < i; ++d) {
    }
    if (call(N_nanosleep, long_time, 0) == -EINTR) ++interrupted;
    while (turns == i) {
    }
  }
  return 0;
}
// A signal ends the sleep even if it arrives just as the thread falls asleep.
static int signals_end_sleeps(void) {
  const u64 action[4] = {(u64)handler, 0, 0, 0}, begin = now();
  call(N_rt_sigaction, 10, action, 0, 8);
  start(&threads[0], sleep_until_signal, 60);
  for (u32 i = 1; i <= 60; ++i) {
    while (turns != i) {
    }
    call(N_tgkill, call(N_getpid), sleeper, 10);
    while (interrupted < (long)i && now() - begin < 50000000) {
    }
    turns = 0;
  }
  join(&threads[0]);
  return interrupted == 60 && now() - begin < 40000000 ? 0 : 1;
}

static volatile long early_ends;
static long time_out_repeatedly(long rounds) {
  const u64 limit[2] = {0, 20000}, time[2] = {0, 200000};
  for (long i = 1; i <= rounds; ++i) {
    turns = i;
    call(N_futex, &lock, 128, 0, limit);
    const u64 begin = now();
    if (call(N_nanosleep, time, 0) != 0 || now() - begin < 200000) ++early_ends;
  }
  return 0;
}
// A wake-up that arrives just as the futex times out does not end the next sleep.
static int late_wakes_end_no_sleep(void) {
  start(&threads[0], time_out_repeatedly, 100);
  for (u32 i = 1; i <= 100; ++i) {
    while (turns != i) {
    }
    for (const u64 begin = now(); now() - begin < 19000 + i * 40;) {
    }
    call(N_futex, &lock, 129, 1);
  }
  join(&threads[0]);
  return (int)early_ends;
}

static long returns(long value) { return value; }
static int serial(void) {
  for (int i = 0; i < 33500; ++i) {
    start(&threads[0], returns, 0);
    join(&threads[0]);
  }
  return 0;
}

// riscv_hwprobe on a machine of n harts (Documentation/arch/riscv/hwprobe.rst).
static int probes(long n) {
  enum { BASE = 3, EXTENSIONS = 4, SCALAR = 9, FAST = 3, WHICH = 1 };
  const u64 zawrs = 1ul << 48, vectors = 1 << 2, all = (1ul << n) - 1;
  struct { long key; u64 value; } pairs[] = {{EXTENSIONS, 7}, {SCALAR, 9}, {-5, 9}, {1000, 9}};
  if (call(N_riscv_hwprobe, pairs, 4, 0, 0, 0) != 0) return 1;
  if (pairs[0].key != EXTENSIONS || !(pairs[0].value & zawrs) || pairs[0].value & vectors) return 2;
  if (pairs[1].value != FAST) return 3;
  for (int i = 2; i < 4; ++i)
    if (pairs[i].key != -1 || pairs[i].value != 0) return 4;
  u64 set = 0;
  if (call(N_riscv_hwprobe, pairs, 1, 8, &set, 0) != -22) return 5;
  set = 1;
  if (call(N_riscv_hwprobe, pairs, 1, 8, &set, 0) != 0 || set != 1) return 6;
  if (call(N_riscv_hwprobe, pairs, 1, 8, 0, 0) != -14) return 7;
  if (call(N_riscv_hwprobe, pairs, 1, 0, 0, WHICH) != -22) return 8;
  if (call(N_riscv_hwprobe, pairs, 1, 0, 0, 2) != -22) return 9;
  if (call(N_riscv_hwprobe, 8, 1, 0, 0, 0) != -14) return 10;
  pairs[0].value = zawrs, set = 0;
  if (call(N_riscv_hwprobe, pairs, 2, 8, &set, WHICH) != 0 || set != all) return 11;
  pairs[0].value = vectors, set = all << 1 | 1;
  if (call(N_riscv_hwprobe, pairs, 1, 8, &set, WHICH) != 0 || set != 0) return 12;
  pairs[0].key = BASE, pairs[0].value = 1, pairs[1].key = 1000, set = 1;
  if (call(N_riscv_hwprobe, pairs, 2, 8, &set, WHICH) != 0 || set != 0) return 13;
  return pairs[0].key == BASE && pairs[1].key == -1 ? 0 : 14;
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
  if (same(what, "yields")) return in_turn(n, yield_until_turn);
  if (same(what, "spins")) return in_turn(n, spin_until_turn);
  if (same(what, "requeued")) return requeued();
  if (same(what, "places")) return places(n);
  if (same(what, "alarms")) return alarms();
  if (same(what, "polls")) return polls();
  if (same(what, "signals")) return signals();
  if (same(what, "barriers")) return barriers();
  if (same(what, "file")) return prints_file(words[2]);
  if (same(what, "events")) return events();
  if (same(what, "events_wait")) return events_wait();
  if (same(what, "events_are_interrupted")) return events_are_interrupted();
  if (same(what, "descriptors")) return descriptors();
  if (same(what, "limits")) return limits();
  if (same(what, "probes")) return probes(n);
  if (same(what, "reopened")) return reopened();
  if (same(what, "ranges")) return ranges();
  if (same(what, "senders")) return senders();
  if (same(what, "faults")) return faults();
  if (same(what, "process_signals")) return process_signals();
  if (same(what, "awaited")) return awaited();
  if (same(what, "signals_end_sleeps")) return signals_end_sleeps();
  if (same(what, "late_wakes_end_no_sleep")) return late_wakes_end_no_sleep();
  if (same(what, "serial")) return serial();
  if (same(what, "deadlock")) return deadlock();
  if (same(what, "nowhere")) return writes_nowhere();
  if (same(what, "vectors")) return uses_vectors();
  if (same(what, "forever")) return never_ends();
  if (same(what, "crowds")) return (int)crowds();
  if (same(what, "forks")) return forks();
  if (same(what, "allocates")) return allocates();
  return 100;
}
