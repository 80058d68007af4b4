// Checks scheduling policies and priorities. Exit status 0, or the number of the failed check.
#include "raw.h"

enum { OTHER = 0, FIFO = 1, ROUND = 2, RESET = 0x40000000, WAIT = 0, WAKE = 1, EINVAL = 22 };
enum { SWITCH = 1000 };  // ns that a context switch takes (os.switch)

static struct thread threads[5];
static long thread(long number) { return call(N_getpid) + 1 + number; }  // tid of a thread
static u32 word;
static volatile u32 order[8], num_noted, turns[2], stop;

static void busy_for(u64 ns) {
  for (const u64 begin = now(); now() - begin < ns;) {
  }
}
static void pin(u64 harts) { call(N_sched_setaffinity, 0, 8, &harts); }
static long set_policy(long tid, long policy, int priority) {
  return call(N_sched_setscheduler, tid, policy, &priority);
}
static void note(long what) {
  order[__atomic_fetch_add(&num_noted, 1, __ATOMIC_ACQ_REL)] = (u32)what;
}
static int is_order(u32 a, u32 b, u32 c) {
  return num_noted == 3 && order[0] == a && order[1] == b && order[2] == c;
}

// ---- On one hart

static long notes(long self) {
  note(self);
  return 0;
}
// Threads inherit the policy and priority of their creator. They run in the order of their
// priorities, even if these are set later.
static int highest_priority_runs_first(void) {
  pin(1);
  if (set_policy(0, FIFO, 50)) return 1;
  for (long i = 0; i < 3; ++i) start(&threads[i], notes, i);
  if (num_noted || call(N_sched_getscheduler, thread(0)) != FIFO) return 2;
  if (set_policy(thread(0), FIFO, 10) || set_policy(thread(1), ROUND, 30)) return 3;
  if (set_policy(thread(2), FIFO, 20)) return 4;
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return is_order(1, 2, 0) ? 0 : 5;
}

static long waits(long priority) {
  pin(1);
  if (priority) set_policy(0, FIFO, (int)priority);
  call(N_futex, &word, WAIT, 0, 0);
  note(priority);
  return 0;
}
// A waker is preempted if the woken thread has a higher priority; otherwise it continues.
static int woken_thread_of_higher_priority_preempts_its_waker(void) {
  pin(1);
  start(&threads[0], waits, 5);
  pause_for(200000);
  if (call(N_futex, &word, WAKE, 1) != 1 || num_noted != 1) return 1;
  join(&threads[0]);
  set_policy(0, FIFO, 7), num_noted = 0;
  start(&threads[0], waits, 5);
  pause_for(200000);
  if (call(N_futex, &word, WAKE, 1) != 1 || num_noted != 0) return 2;
  join(&threads[0]);
  return 0;
}

static int highest_priority_is_woken_first(void) {
  for (long i = 0; i < 3; ++i) start(&threads[i], waits, (i + 2) % 3), pause_for(200000);
  for (u32 i = 0; i < 3; ++i) {
    if (call(N_futex, &word, WAKE, 1) != 1) return 1;
    pause_for(200000);
    if (num_noted != i + 1) return 2;
  }
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return is_order(2, 1, 0) ? 0 : 3;
}

static long takes_turns(long self) {
  const u64 begin = now();
  for (u64 last = begin, t; (t = now()) - begin < 15000000; last = t)
    if (t - last > 300000) ++turns[self];  // another thread has run
  return 0;
}
// Counts the switches between two threads of one priority: round robin has some, FIFO none.
static int turns_of(long policy) {
  pin(1);
  set_policy(0, policy, 9);
  turns[0] = turns[1] = 0;
  for (long i = 0; i < 2; ++i) start(&threads[i], takes_turns, i);
  for (int i = 0; i < 2; ++i) join(&threads[i]);
  return (int)(turns[0] + turns[1]);
}
static int only_round_robin_switches_between_equals(void) {
  if (turns_of(FIFO) != 0) return 1;
  return turns_of(ROUND) >= 4 ? 0 : 2;
}

static long yields_once(long self) {
  call(N_sched_yield);
  note(self);
  return 0;
}
// sched_yield() lets threads of the same priority run, but not those of lower priority.
static int yield_runs_equals_only(void) {
  pin(1);
  set_policy(0, FIFO, 9);
  start(&threads[0], notes, 0), start(&threads[1], notes, 1);
  set_policy(thread(0), FIFO, 8);
  call(N_sched_yield);
  if (num_noted != 1 || order[0] != 1) return 1;
  const u64 begin = now();
  call(N_sched_yield);
  if (num_noted != 1 || now() - begin >= SWITCH) return 2;
  start(&threads[2], yields_once, 2);
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return is_order(1, 2, 0) ? 0 : 3;
}

static long tells_its_policy(long unused) {
  (void)unused;
  order[0] = (u32)call(N_sched_getscheduler, 0);
  return 0;
}
static int reset_on_fork_gives_the_default_policy(void) {
  if (set_policy(0, FIFO | RESET, 3) || call(N_sched_getscheduler, 0) != (FIFO | RESET)) return 1;
  start(&threads[0], tells_its_policy, 0);
  join(&threads[0]);
  if (order[0] != OTHER) return 2;
  u64 slice[2] = {9, 9};
  if (call(127, 0, slice) || slice[0] || slice[1]) return 3;
  return set_policy(0, OTHER, 0) || call(127, 0, slice) || slice[1] != 2800000 ? 4 : 0;
}

// ---- On several harts

static long spin_anywhere(long unused) {
  (void)unused;
  pin(1), pin(3);
  while (!stop) ++turns[0];
  return 0;
}
static long preempt_later(long unused) {
  (void)unused;
  pin(1);
  set_policy(0, FIFO, 5);
  pause_for(5000000);
  const u32 before = turns[0];
  busy_for(5000000);
  note(turns[0] != before && before);
  return 0;
}
// A preempted thread continues on another hart, which has no thread of higher priority.
static int preempted_thread_moves_to_another_hart(void) {
  pin(2);
  start(&threads[0], preempt_later, 0);
  pause_for(200000);
  start(&threads[1], spin_anywhere, 0);
  join(&threads[0]);
  stop = 1;
  join(&threads[1]);
  return order[0] ? 0 : 1;
}

static long spin_on_hart_0(long unused) {
  (void)unused;
  pin(1);
  while (!stop) ++turns[0];
  return 0;
}
// A hart is interrupted for a thread of higher priority, long before the slice ends.
static int other_hart_is_interrupted_for_a_higher_priority(void) {
  pin(2);
  start(&threads[0], waits, 5);
  pause_for(200000);
  start(&threads[1], spin_on_hart_0, 0);
  pause_for(200000);
  if (!turns[0] || call(N_futex, &word, WAKE, 1) != 1) return 1;
  busy_for(500000);
  if (num_noted != 1) return 2;
  stop = 1;
  for (int i = 0; i < 2; ++i) join(&threads[i]);
  return 0;
}

static long works(long self) {
  busy_for(self == 2 ? 1000000 : 10000000);
  note(self);
  return 0;
}
static void place(long tid, u64 harts) { call(N_sched_setaffinity, tid, 8, &harts); }
// A hart takes a thread of higher priority from another queue before its own lower ones.
static int harts_take_higher_priorities_from_other_queues(void) {
  pin(1);
  set_policy(0, FIFO, 50);
  for (long i = 0; i < 3; ++i) start(&threads[i], works, i);
  set_policy(thread(0), OTHER, 0);  // it queues after this thread, on this hart
  set_policy(thread(1), FIFO, 40), place(thread(1), 2);
  set_policy(thread(2), FIFO, 20), place(thread(2), 2), place(thread(2), 3);
  if (num_noted) return 1;
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return num_noted == 3 && order[0] == 2 ? 0 : 2;
}

int run(int count, char** words) {
  static const struct {
    const char* word;
    int (*run)(void);
  } checks[] = {
      {"highest_priority_runs_first", highest_priority_runs_first},
      {"woken_thread_of_higher_priority_preempts_its_waker",
       woken_thread_of_higher_priority_preempts_its_waker},
      {"highest_priority_is_woken_first", highest_priority_is_woken_first},
      {"only_round_robin_switches_between_equals", only_round_robin_switches_between_equals},
      {"yield_runs_equals_only", yield_runs_equals_only},
      {"reset_on_fork_gives_the_default_policy", reset_on_fork_gives_the_default_policy},
      {"preempted_thread_moves_to_another_hart", preempted_thread_moves_to_another_hart},
      {"harts_take_higher_priorities_from_other_queues",
       harts_take_higher_priorities_from_other_queues},
      {"other_hart_is_interrupted_for_a_higher_priority",
       other_hart_is_interrupted_for_a_higher_priority},
  };
  for (u64 i = 0; count > 1 && i < sizeof checks / sizeof *checks; ++i)
    if (same(words[1], checks[i].word)) return checks[i].run();
  return 100;
}
