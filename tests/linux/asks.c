// Checks calls that programs probe for, and small calls. Exit status 0, or the failed check's
// number.
#include "raw.h"

enum { EINVAL = 22, ENOSYS = 38, ESRCH = 3, EFAULT = 14, ENOMEM = 12 };
static struct thread threads[2];
static u32 word;

static int missing(void) {
  say("before\n");
  if (call(425, 1, 2) != -ENOSYS || call(425, 1, 2) != -ENOSYS) return 1;
  if (call(9999) != -ENOSYS) return 2;
  say("after\n");
  return 0;
}

// Tries every operation and comparison of FUTEX_WAKE_OP, including those that Linux refuses.
static int futex_ops(void) {
  static u32 second;
  const u32 expected[5] = {3, 8, 7, 4, 6};  // results of each operation on 5 and 3
  for (u32 op = 0; op < 8; ++op) {
    second = 5;
    const long got = call(N_futex, &word, 133, 1, 1, &second, op << 28 | 3 << 12);
    if (got != (op < 5 ? 0 : -ENOSYS)) return 1 + (int)op;
    if (op < 5 && second != expected[op]) return 10 + (int)op;
  }
  for (u32 compare = 0; compare < 16; ++compare)
    if (call(N_futex, &word, 133, 1, 1, &second, compare << 24) != (compare < 6 ? 0 : -ENOSYS))
      return 20 + (int)compare;
  return 0;
}

static int priorities(void) {
  int priority = 1;
  if (call(N_getpriority, 0, 0) != 20) return 1;
  if (call(N_setpriority, 0, 0, 5) != 0 || call(N_getpriority, 0, 0) != 15) return 2;
  if (call(N_setpriority, 0, 0, 100) != 0 || call(N_getpriority, 0, 0) != 1) return 3;
  if (call(N_getpriority, 7, 0) != -EINVAL || call(N_getpriority, 0, 999999) != -ESRCH) return 4;
  if (call(N_sched_getscheduler, 0) != 0) return 5;
  if (call(N_sched_setscheduler, 0, 0, &priority) != -EINVAL) return 6;
  priority = 0;
  if (call(N_sched_setscheduler, 0, 1, &priority) != -EINVAL) return 7;
  if (call(N_sched_setscheduler, 0, 3, &priority) != 0 || call(N_sched_getscheduler, 0) != 3)
    return 8;
  if (call(N_sched_setscheduler, 0, 9, &priority) != -EINVAL) return 9;
  if (call(N_sched_get_priority_max, 1) != 99 || call(N_sched_get_priority_max, 9) != -EINVAL)
    return 10;
  return call(N_sched_getscheduler, 999999) == -ESRCH ? 0 : 11;
}

// A simulated program may ask for any policy, as root may.
static int real_time(void) {
  int priority = 42, got = 0;
  if (call(N_sched_setscheduler, 0, 2, &priority) != 0) return 1;
  if (call(N_sched_getscheduler, 0) != 2 || call(N_sched_getparam, 0, &got) != 0) return 2;
  return got == 42 ? 0 : 3;
}

static volatile int handled;
static void handler(int number) { handled = number; }
static void block(int how, long number) {
  const u64 set = 1UL << (number - 1);
  call(N_rt_sigprocmask, how, &set, 0, 8);
}
static int pending(void) {
  const u64 action[4] = {(u64)handler, 0, 0, 0}, none = 0;
  u64 set = 7;
  call(N_rt_sigaction, 10, action, 0, 8);
  block(0, 10);
  if (call(N_rt_sigpending, &set, 8) != 0 || set) return 1;
  call(N_kill, call(N_getpid), 10);
  if (call(N_rt_sigpending, &set, 8) != 0 || set != 1UL << 9 || handled) return 2;
  if (call(N_rt_sigsuspend, &none, 8) != -4 || handled != 10) return 3;
  if (call(N_rt_sigpending, &set, 8) != 0 || set) return 4;
  u64 mask;  // the previous mask is restored
  call(N_rt_sigprocmask, 0, 0, &mask, 8);
  return mask == 1UL << 9 ? 0 : 5;
}

static long kills(long number) {
  const u64 time[2] = {0, 200000};
  call(N_nanosleep, time, 0);
  return call(N_kill, call(N_getpid), number);
}
// A call applies a mask while it waits: the handler runs, and then the old mask is restored.
static int masked_waits(void) {
  const u64 action[4] = {(u64)handler, 0, 0, 0}, none = 0, time[2] = {0, 100000};
  u64 mask;
  call(N_rt_sigaction, 10, action, 0, 8);
  block(0, 10);
  if (call(N_ppoll, 0, 0, time, &none, 8) != 0) return 1;
  start(&threads[0], kills, 10);
  if (call(N_ppoll, 0, 0, 0, &none, 8) != -4 || handled != 10) return 2;
  join(&threads[0]);
  call(N_rt_sigprocmask, 0, 0, &mask, 8);
  if (mask != 1UL << 9) return 3;
  call(N_kill, call(N_getpid), 10);
  handled = 0;
  if (call(N_ppoll, 0, 0, time, 0, 8) != 0 || handled) return 4;
  return 0;
}

struct info {
  int number, error, code, pad;
  u64 sender, value, rest[12];
};
static int queued(void) {
  struct info info = {0};
  const u64 set = 1UL << 39;
  block(0, 40);
  for (u64 i = 1; i <= 3; ++i) {
    info.number = 40, info.code = -1, info.sender = call(N_getpid), info.value = i << 40 | i;
    if (call(N_rt_sigqueueinfo, call(N_getpid), 40, &info) != 0) return 1;
  }
  for (u64 i = 1; i <= 3; ++i) {
    if (call(N_rt_sigtimedwait, &set, &info, 0, 8) != 40) return 2;
    if (info.value != (i << 40 | i) || info.code != -1) return 3;
  }
  return 0;
}

// C7: if a thread leaves its hart between LR and SC, the SC fails, even if another thread did an
// LR.
static volatile u32 counted;
static void count(void) {
  u32 now, failed;
  __asm__ volatile("lr.w %0, (%1)" : "=r"(now) : "r"(&counted) : "memory");
  call(N_sched_yield);
  __asm__ volatile("sc.w %0, %1, (%2)" : "=r"(failed) : "r"(now + 1), "r"(&counted) : "memory");
  if (failed) __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
}
static long counts_and_reserves(long times) {
  for (u32 now; times; --times) {
    __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
    __asm__ volatile("lr.w %0, (%1)" : "=r"(now) : "r"(&counted) : "memory");
    call(N_sched_yield);
  }
  return 0;
}
static int reserved(void) {
  static struct thread other;
  start(&other, counts_and_reserves, 300);
  for (int i = 0; i < 300; ++i) count();
  join(&other);
  return counted == 600 ? 0 : 1;
}

static int remaps(void) {
  const u64 page = 4096;
  char* at = (char*)call(N_mmap, 0, 8 * page, 3, 0x22, -1, 0);
  for (u64 i = 0; i < 8 * page; i += page) at[i] = (char)(1 + i / page);
  if (call(N_mremap, at, 8 * page, 4 * page, 0) != (long)at || at[3 * page] != 4) return 1;
  char* const next_page = at + 4 * page;
  if (call(N_mmap, next_page, page, 3, 0x100022, -1, 0) != (long)next_page || *next_page) return 2;
  *next_page = 9;
  if (call(N_mremap, at, 4 * page, 16 * page, 0) != -ENOMEM) return 3;
  char* const moved = (char*)call(N_mremap, at, 4 * page, 64 * page, 1);
  if ((long)moved < 0 || moved == at || *next_page != 9) return 4;
  for (u64 i = 0; i < 4 * page; i += page)
    if (moved[i] != (char)(1 + i / page)) return 5;
  if (moved[63 * page] != 0) return 6;
  if (call(N_mremap, at, page, 2 * page, 1) != -EFAULT) return 7;
  char* const target = (char*)call(N_mmap, 0, 80 * page, 3, 0x22, -1, 0);
  if (call(N_mremap, moved, 64 * page, 2 * page, 3, target + page) != (long)(target + page))
    return 8;
  if (target[page] != 1 || target[2 * page] != 2 || target[3 * page] != 0) return 9;
  if (call(N_mremap, target, page, page, 3, target) != -EINVAL) return 10;
  if (call(N_mremap, target + 1, page, page, 1) != -EINVAL) return 11;
  return 0;
}

static int executes(void) { return (int)call(221, "/bin/true", 0, 0); }

static u64 time_by(long clock) {
  u64 time[2];
  return call(N_clock_gettime, clock, time) ? ~0UL : time[0] * 1000000000 + time[1];
}
static volatile int signal_received;
static void receive_signal(int number) { signal_received = number; }
static struct thread worker;
static u64 worked;
static long works(long ns) {
  while (time_by(3) < (u64)ns) {
  }
  worked = time_by(-2);  // CPU time of this thread, by an id
  return 0;
}
// CPU-time clocks advance while threads run on harts. With `only`, checks that they advance at no
// other time, which does not hold for QEMU on a busy host.
static int times_on_harts(int only) {
  enum { PROCESS = 2, THREAD = 3, BY_ID = -6, NOBODYS = -80000002 };
  const u64 pause[2] = {0, 30000000}, before = time_by(1);
  const u64 own = time_by(THREAD);  // CPU time of this thread; under QEMU, its start too
  const u64 action[4] = {(u64)receive_signal, 0, 0, 0}, span[4] = {0, 0, 0, 15000};
  call(N_nanosleep, pause, 0);
  if (time_by(1) - before < 30000000 || (only && time_by(THREAD) - own > 20000000)) return 1;
  start(&worker, works, 20000000), join(&worker);
  if (worked < 20000000) return 2;
  if (only && (worked > 80000000 || time_by(THREAD) - own > 20000000)) return 2;
  const u64 all = time_by(PROCESS);
  if (all < 20000000 || (only && time_by(BY_ID) - all > 50000000)) return 3;
  if (time_by(NOBODYS) != ~0UL || call(114, NOBODYS, 0) != -EINVAL) return 4;
  for (long which = 1; which <= 2; ++which) {
    call(N_rt_sigaction, 25 + which, action, 0, 8);
    const u64 begin = time_by(PROCESS);
    if (call(N_setitimer, which, span, 0)) return 5;
    while (signal_received != 25 + which)
      if (only && time_by(PROCESS) - begin > 900000000) return 6;
    if (time_by(PROCESS) - begin < 15000000) return 7;
  }
  return 0;
}

int run(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (same(what, "missing")) return missing();
  if (same(what, "futex_ops")) return futex_ops();
  if (same(what, "priorities")) return priorities();
  if (same(what, "real_time")) return real_time();
  if (same(what, "pending")) return pending();
  if (same(what, "masked_waits")) return masked_waits();
  if (same(what, "queued")) return queued();
  if (same(what, "reserved")) return reserved();
  if (same(what, "remaps")) return remaps();
  if (same(what, "times_on_harts")) return times_on_harts(0);
  if (same(what, "times_on_harts_only")) return times_on_harts(1);
  if (same(what, "executes")) return executes();
  return 100;
}
