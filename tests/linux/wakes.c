// Checks how calls wait and what wakes them: futexes, signals, timers, placement on harts and
// robust lists. The argument names the check. Exit status 0, or the number of what failed.
#include "raw.h"

enum { EINTR = 4, EAGAIN = 11, ETIMEDOUT = 110, EINVAL = 22 };
enum { WAIT = 0, WAKE = 1, WAKE_OP = 5, WAIT_BITSET = 9, REALTIME = 256 };
enum { SIGUSR1 = 10, SIGUSR2 = 12, SIGALRM = 14 };
enum { SA_RESTART = 0x10000000, SA_NODEFER = 0x40000000 };
static const u64 SA_RESETHAND = 0x80000000;

static struct thread threads[8];
static u32 word, other;
static volatile u32 order[8], num_noted;

static u64 time_of(long clock) {
  u64 time[2];
  call(N_clock_gettime, clock, time);
  return time[0] * 1000000000 + time[1];
}
static void pin(u64 harts) { call(N_sched_setaffinity, 0, 8, &harts); }
static u32 hart(void) {
  u32 cpu = 99;
  call(N_getcpu, &cpu, 0, 0);
  return cpu;
}
static int within(u64 value, u64 low, u64 high) { return low <= value && value <= high; }

// ---- futexes

static long wait_once(long self) {
  call(N_futex, &word, WAIT, 0, 0);
  order[__atomic_fetch_add(&num_noted, 1, __ATOMIC_ACQ_REL)] = self;
  return 0;
}
static int waiters_wake_in_order(void) {
  for (long i = 0; i < 4; ++i) start(&threads[i], wait_once, i), pause_for(100000);
  for (u32 i = 0; i < 4; ++i) {
    if (call(N_futex, &word, WAKE, 1) != 1) return 1;
    pause_for(100000);
    if (num_noted != i + 1 || order[i] != i) return 2;
  }
  for (int i = 0; i < 4; ++i) join(&threads[i]);
  return 0;
}

static int absolute_times(void) {
  for (int of_day = 0; of_day < 2; ++of_day) {
    const u64 operation = WAIT_BITSET | (of_day ? REALTIME : 0), begin = now();
    const u64 until = time_of(1 - of_day) + 300000;
    const u64 time[2] = {until / 1000000000, until % 1000000000}, past[2] = {0, 1};
    if (call(N_futex, &word, operation, 0, time, 0, -1) != -ETIMEDOUT) return 1;
    if (!within(now() - begin, 300000, 400000)) return 2;
    if (call(N_futex, &word, operation, 0, past, 0, -1) != -ETIMEDOUT) return 3;
    if (now() - begin > 500000) return 4;
  }
  return 0;
}

static long wait_after_timeout(long self) {
  const u64 time[2] = {0, 50000};
  if (call(N_futex, &word, WAIT, 0, time) != -ETIMEDOUT) fail(9);
  pause_for(200000);
  return wait_once(self);
}
// A thread that has timed out has left the queue, so when it waits again, it is the last.
static int time_outs_leave_no_waiter(void) {
  start(&threads[0], wait_after_timeout, 1);
  pause_for(100000);
  start(&threads[1], wait_once, 0);
  pause_for(300000);
  for (u32 i = 0; i < 2; ++i) {
    if (call(N_futex, &word, WAKE, 1) != 1) return 1;
    pause_for(100000);
    if (num_noted != i + 1 || order[i] != i) return 2;
  }
  join(&threads[0]), join(&threads[1]);
  return 0;
}

static volatile u32 stop;
static long waits_on_other(long unused) {
  (void)unused;
  while (!stop) call(N_futex, &other, WAIT, other, 0);
  return 0;
}
static int compared(int old, int with, u32 comparison) {
  other = old;
  call(N_futex, &other, WAKE, 9);
  pause_for(60000);
  const u32 add_nothing = 1u << 28 | comparison << 24 | ((u32)with & 0xfff);
  return call(N_futex, &word, WAKE_OP, 1, 1, &other, add_nothing);
}
// The second word is compared, as a signed number, before it is changed.
static int wake_op_compares(void) {
  const int values[] = {-3, -2, -1, 4, 5, 9}, arguments[] = {5, -2};
  start(&threads[0], waits_on_other, 0);
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 2; ++k) {
      const int old = values[i], with = arguments[k];
      const int holds[] = {old == with, old != with, old<with, old <= with, old> with, old >= with};
      for (u32 comparison = 0; comparison < 6; ++comparison)
        if (compared(old, with, comparison) != holds[comparison]) return 1 + comparison;
    }
  stop = 1;
  call(N_futex, &other, WAKE, 9);
  join(&threads[0]);
  return 0;
}
static int wake_op_changes(void) {
  const struct {
    u32 operation, argument, result;
  } cases[] = {{0, 6, 6}, {1, 6, 18}, {2, 3, 15}, {3, 4, 8}, {4, 4, 8}, {8, 3, 8}, {9, 3, 20}};
  for (u64 i = 0; i < sizeof cases / sizeof *cases; ++i) {
    other = 12;
    call(N_futex, &word, WAKE_OP, 1, 1, &other, cases[i].operation << 28 | cases[i].argument << 12);
    if (other != cases[i].result) return 1 + i;
  }
  return 0;
}

// ---- signals

static volatile int handled[8], depth, deepest, turns;
static void note(int number) { handled[turns++ & 7] = number; }
static void set(int number, void (*handler)(int), u64 flags) {
  const u64 action[4] = {(u64)handler, flags, 0, 0};
  call(N_rt_sigaction, number, action, 0, 8);
}
static void to_self(int number) { call(N_tgkill, call(N_getpid), call(N_gettid), number); }
static volatile u32 waiter;
static long signal_waiter(long ns) {
  pause_for(ns);
  call(N_tgkill, call(N_getpid), waiter, SIGUSR1);
  pause_for(ns);
  call(N_futex, &word, WAKE, 9);
  return 0;
}
// A signal ends a futex wait, except a wait without timeout whose handler has SA_RESTART.
static int handlers_and_futexes(void) {
  const u64 long_time[2] = {0, 5000000};
  waiter = call(N_gettid);
  for (int restarts = 0; restarts < 2; ++restarts) {
    set(SIGUSR1, note, restarts ? SA_RESTART : 0);
    for (int timed = 0; timed < 2; ++timed) {
      start(&threads[0], signal_waiter, 200000);
      const u64 begin = now();
      const long ended = call(N_futex, &word, WAIT, 0, timed ? long_time : 0);
      const int goes_on = restarts && !timed;
      if (ended != (goes_on ? 0 : -EINTR)) return 1 + 2 * restarts + timed;
      if (goes_on ? now() - begin < 390000 : now() - begin > 390000) return 5;
      join(&threads[0]);
    }
  }
  return turns == 4 ? 0 : 6;
}

static int lowest_first(void) {
  const u64 both = 1UL << (SIGUSR1 - 1) | 1UL << (SIGUSR2 - 1), no_time[2] = {0, 0};
  set(SIGUSR1, note, 0);
  set(SIGUSR2, note, 0);
  call(N_rt_sigprocmask, 0, &both, 0, 8);
  to_self(SIGUSR2);
  to_self(SIGUSR1);
  if (call(N_rt_sigtimedwait, &both, 0, no_time, 8) != SIGUSR1) return 1;
  if (call(N_rt_sigtimedwait, &both, 0, no_time, 8) != SIGUSR2) return 2;
  to_self(SIGUSR2);
  to_self(SIGUSR1);
  call(N_rt_sigprocmask, 1, &both, 0, 8);
  // The second signal's frame is on top of the first one's, so its handler runs first.
  return turns == 2 && handled[0] == SIGUSR2 && handled[1] == SIGUSR1 ? 0 : 3;
}

static void raise_again(int number) {
  if (++depth > deepest) deepest = depth;
  if (++turns < 2) to_self(number);
  --depth;
}
static int handlers_nest_if_asked(void) {
  for (int asked = 0; asked < 2; ++asked) {
    turns = deepest = 0;
    set(SIGUSR1, raise_again, asked ? SA_NODEFER : 0);
    to_self(SIGUSR1);
    if (turns != 2 || deepest != 1 + asked) return 1 + asked;
  }
  return 0;
}
static int handlers_are_reset_if_asked(void) {
  for (int asked = 0; asked < 2; ++asked) {
    u64 action[4] = {9, 9, 9, 9};
    set(SIGUSR1, note, asked ? SA_RESETHAND : 0);
    to_self(SIGUSR1);
    call(N_rt_sigaction, SIGUSR1, 0, action, 8);
    if ((action[0] == 0) != asked) return 1 + asked;
  }
  return turns == 2 ? 0 : 3;
}
static volatile int within_handler;
static void blocks_other(int number) {
  turns = 0;
  to_self(SIGUSR2);
  within_handler = turns;
  (void)number;
}
// A signal that the handler's mask blocks is delivered after the handler has ended.
static int handler_mask_blocks_signals(void) {
  const u64 action[4] = {(u64)blocks_other, 0, 1UL << (SIGUSR2 - 1), 0};
  set(SIGUSR2, note, 0);
  call(N_rt_sigaction, SIGUSR1, action, 0, 8);
  to_self(SIGUSR1);
  if (within_handler != 0 || turns != 1) return 1;
  u64 mask = 99;
  call(N_rt_sigprocmask, 0, 0, &mask, 8);
  return mask == 0 ? 0 : 2;
}

// ---- time

static int alarms_do_not_drift(void) {
  enum { period_us = 20, times = 500 };
  const u64 every[4] = {0, period_us, 0, period_us}, long_time[2] = {1, 0};
  set(SIGALRM, note, 0);
  call(N_setitimer, 0, every, 0);
  const u64 begin = now();
  while (turns < times) call(N_nanosleep, long_time, 0);
  return within(now() - begin, (times - 1) * period_us * 1000, times * period_us * 1000 + 10000)
             ? 0
             : 1;
}
static int sleep_returns_remaining_time(void) {
  const u64 wanted[2] = {0, 5000000};
  u64 rest[2] = {9, 9};
  set(SIGUSR1, note, 0);
  waiter = call(N_gettid);
  start(&threads[0], signal_waiter, 200000);
  const u64 begin = now();
  if (call(N_nanosleep, wanted, rest) != -EINTR) return 1;
  const u64 passed = now() - begin;
  if (rest[0] != 0 || !within(rest[1] + passed, 4990000, 5050000)) return 2;
  join(&threads[0]);
  return 0;
}

// ---- placement on harts

static volatile u32 woken_hart[8], counted;
static long count_on_hart(long where) {
  pin(1UL << where);
  while (!stop) ++counted;
  return 0;
}
// K7: at the end of its slice a thread moves to an idle hart, and a bound thread gets its hart.
static int slices_end_on_idle_harts(void) {
  pin(1);
  pin(3);
  start(&threads[0], count_on_hart, 0);
  const u64 begin = now();
  while (now() - begin < 20000000) {
  }
  stop = 1;
  if (hart() != 1) return 1;
  join(&threads[0]);
  return counted ? 0 : 2;
}

static long sleep_on_hart(long where) {
  pin(1UL << where);
  pin(255);
  call(N_futex, &word, WAIT, 0, 0);
  woken_hart[0] = hart();
  return 0;
}
// Wakes the thread and spins. If it slept, its hart would take the thread from another queue (K6).
static u32 woken_on(struct thread* t) {
  woken_hart[0] = 99;
  call(N_futex, &word, WAKE, 1);
  while (woken_hart[0] == 99) {
  }
  join(t);
  return woken_hart[0];
}
// K5: a thread wakes on its last hart or, if that is busy, on the nearest one, the lower of two.
static int woken_on_last_or_nearest_hart(void) {
  start(&threads[0], sleep_on_hart, 5);
  pause_for(300000);
  if (woken_on(&threads[0]) != 5) return 1;
  start(&threads[0], sleep_on_hart, 5);
  pause_for(300000);
  start(&threads[1], count_on_hart, 5);
  pause_for(300000);
  const u32 where = woken_on(&threads[0]);
  stop = 1;
  join(&threads[1]);
  return where == 4 ? 0 : 2;
}

static volatile u32 ends[8];
static long spin_on_hart(long where) {
  pin(1UL << where);
  while (!ends[where]) {
  }
  return 0;
}
static long notes_order(long self) {
  order[__atomic_fetch_add(&num_noted, 1, __ATOMIC_ACQ_REL)] = self;
  return 0;
}
static long start_with_tid(struct thread* t, long self) {
  t->done = 1, t->run = notes_order, t->argument = self;
  return start_thread(0x250f00, t->stack + sizeof t->stack, &t->done, t);
}
// K6: an idle hart takes the last thread of the longest queue. Hart 1 takes the second and then the
// first thread of hart 0, and then the thread of hart 2.
static int idle_hart_takes_last_of_longest_queue(void) {
  pin(1);
  start(&threads[3], spin_on_hart, 1);
  start(&threads[4], spin_on_hart, 2);
  pause_for(300000);
  long tids[3];
  for (long i = 0; i < 3; ++i) tids[i] = start_with_tid(&threads[i], i);
  const u64 second = 4, either = 3, other_two = 6;
  call(N_sched_setaffinity, tids[2], 8, &second);
  call(N_sched_setaffinity, tids[2], 8, &other_two);
  call(N_sched_setaffinity, tids[0], 8, &either);
  call(N_sched_setaffinity, tids[1], 8, &either);
  ends[1] = 1;
  while (num_noted < 3) {
  }
  ends[2] = 1;
  for (int i = 0; i < 5; ++i) join(&threads[i]);
  return order[0] == 1 && order[1] == 0 && order[2] == 2 ? 0 : 1;
}

// ---- robust lists

enum { WAITERS = 0x80000000u, DIED = 0x40000000, OTHERS = 12345 };
static struct robust {
  struct robust* next;
  u32 lock;
} locks[4];
static struct {
  struct robust* next;
  u64 offset;
  struct robust* pending;
} list;
static long die_with_locks(long unused) {
  (void)unused;
  const u32 tid = call(N_gettid);
  list.next = &locks[0];
  locks[0].next = &locks[1], locks[1].next = &locks[2], locks[2].next = (struct robust*)&list;
  list.offset = 8, list.pending = &locks[3];
  locks[0].lock = tid | WAITERS, locks[1].lock = tid, locks[2].lock = OTHERS, locks[3].lock = tid;
  call(N_set_robust_list, &list, 24);
  __atomic_store_n(&other, 1, __ATOMIC_RELEASE);
  pause_for(200000);
  return 0;
}
static int robust_locks_of_dead_threads(void) {
  if (call(N_set_robust_list, &list, 23) != -EINVAL) return 1;
  start(&threads[0], die_with_locks, 0);
  while (!__atomic_load_n(&other, __ATOMIC_ACQUIRE)) {
  }
  const u64 long_time[2] = {0, 900000000};
  if (call(N_futex, &locks[0].lock, WAIT, locks[0].lock, long_time) != 0) return 2;
  join(&threads[0]);
  if (locks[0].lock != (WAITERS | DIED) || locks[1].lock != DIED) return 3;
  if (locks[2].lock != OTHERS) return 4;
  return locks[3].lock == DIED ? 0 : 5;
}

// ---- memory

static volatile u64 faulted;
static void allow_access(int number, char* info, u64* context) {
  (void)number, (void)context;
  faulted = *(u64*)(info + 16);
  call(N_mprotect, faulted & ~4095UL, 4096, 3);
}
static int hidden_pages_keep_their_bytes(void) {
  const u64 action[4] = {(u64)allow_access, 4, 0, 0};
  call(N_rt_sigaction, 11, action, 0, 8);
  volatile u64* const page = (u64*)call(N_mmap, 0, 8192, 3, 0x22, -1, 0);
  page[3] = 77;
  if (call(N_mprotect, page, 4096, 0) != 0) return 1;
  if (page[3] != 77 || faulted != (u64)(page + 3)) return 2;
  faulted = 0;
  page[4] = 78;
  if (faulted != 0 || page[4] != 78) return 3;
  call(N_mprotect, page, 4096, 0);
  call(N_munmap, page, 4096);
  call(N_mmap, page, 4096, 3, 0x32, -1, 0);
  return page[3] == 0 && page[4] == 0 ? 0 : 4;
}

int run(int count, char** words) {
  static const struct {
    const char* word;
    int (*run)(void);
  } checks[] = {
      {"waiters_wake_in_order", waiters_wake_in_order},
      {"absolute_times", absolute_times},
      {"wake_op_compares", wake_op_compares},
      {"wake_op_changes", wake_op_changes},
      {"handlers_and_futexes", handlers_and_futexes},
      {"lowest_first", lowest_first},
      {"handlers_nest_if_asked", handlers_nest_if_asked},
      {"handlers_are_reset_if_asked", handlers_are_reset_if_asked},
      {"handler_mask_blocks_signals", handler_mask_blocks_signals},
      {"alarms_do_not_drift", alarms_do_not_drift},
      {"sleep_returns_remaining_time", sleep_returns_remaining_time},
      {"slices_end_on_idle_harts", slices_end_on_idle_harts},
      {"woken_on_last_or_nearest_hart", woken_on_last_or_nearest_hart},
      {"idle_hart_takes_last_of_longest_queue", idle_hart_takes_last_of_longest_queue},
      {"time_outs_leave_no_waiter", time_outs_leave_no_waiter},
      {"robust_locks_of_dead_threads", robust_locks_of_dead_threads},
      {"hidden_pages_keep_their_bytes", hidden_pages_keep_their_bytes},
  };
  for (u64 i = 0; count > 1 && i < sizeof checks / sizeof *checks; ++i)
    if (same(words[1], checks[i].word)) return checks[i].run();
  return 100;
}
