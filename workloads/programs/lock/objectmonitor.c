// OpenJDK's monitor, as in HotSpot (JDK 9, objectMonitor.cpp). It is a program for Linux, because
// its waiters sleep in the kernel.
//
//     objectmonitor THREADS OPS HOLD THINK [check]    HOLD and THINK in ns; OPS of each thread
//
// With `check` the monitor guards a counter, which is checked at the end.
//
// A thread takes a free monitor by one compare-and-swap of the owner. If that fails it spins: first
// a few reads with a pause each, then a number of reads that adapts (success raises it, spinning in
// vain lowers it); it stops when it sees the owner change. Then it pushes itself onto the stack of
// recent arrivals and sleeps; the first to sleep is `responsible` and also wakes by a timer now and
// then. A thread that leaves clears the owner, fences, and checks for sleepers, unless a thread is
// about to take over (`successor`). If there are any it takes the monitor back, moves the stack
// into the queue of threads to wake, and wakes the first. This one does not own the monitor:
// another thread may take it first.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <uncore_hints.h>
#include <unistd.h>

#define LINE 128
#define MOST_THREADS 4096

// HotSpot calls these PreSpin, SpinLimit, Poverty, Bonus, BonusB and Penalty.
// After every POLL reads of the owner a spinning thread pauses.
enum { LOOKS = 10, LIMIT = 5000, POVERTY = 1000, BONUS = 100, QUICK_BONUS = 100, PENALTY = 200 };
enum { POLL = 256, FIRST_SLEEP_MS = 1, LONGEST_SLEEP_MS = 1000 };

enum where { RUNS, ARRIVED, QUEUED };

struct contender {
  _Alignas(LINE) struct contender* next;
  struct contender* previous;
  _Atomic(enum where) where;
  _Alignas(LINE) _Atomic int event;  // 1: woken, 0: neither, -1: sleeps
};

typedef _Atomic(struct contender*) one_t;

// The layout is HotSpot's: the owner has its own line, the queues and the successor share one.
static struct {
  _Alignas(LINE) one_t owner;
  one_t queue, arrivals, successor, responsible;
  _Atomic int count, spinning;
} monitor = {.spinning = LIMIT};

static struct contender* all;
static unsigned threads;
static long operations, hold, think;
static _Alignas(LINE) _Atomic unsigned arrived;
static bool guards;
static _Alignas(LINE) long guarded;

static void relax(void) {
#ifdef __riscv
  __asm__ volatile(".word 0x0100000f");  // pause
#elif defined __x86_64__
  __builtin_ia32_pause();
#endif
}

// ---- Sleeping, as HotSpot's PlatformEvent
// --------------------------------------------------------

static void park(struct contender* self, long ms) {
  if (atomic_fetch_sub(&self->event, 1) > 0) return;
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  while (atomic_load(&self->event) < 0) {
    long slept = syscall(SYS_futex, &self->event, FUTEX_WAIT_PRIVATE, -1, ms ? &time : NULL);
    if (slept && errno == ETIMEDOUT) break;
  }
  atomic_store(&self->event, 0);
}

static void unpark(struct contender* it) {
  if (atomic_exchange(&it->event, 1) < 0) syscall(SYS_futex, &it->event, FUTEX_WAKE_PRIVATE, 1);
}

// ---- Taking
// --------------------------------------------------------------------------------------

static struct contender* taken_from(struct contender* self) {
  struct contender* owner = NULL;
  atomic_compare_exchange_strong(&monitor.owner, &owner, self);
  return owner;
}

static bool try(struct contender* self) {
  return atomic_load(&monitor.owner) == NULL && taken_from(self) == NULL;
}

static void paid(int bonus) {
  int now = atomic_load_explicit(&monitor.spinning, memory_order_relaxed);
  if (now >= LIMIT) return;
  atomic_store_explicit(&monitor.spinning, (now < POVERTY ? POVERTY : now) + bonus,
                        memory_order_relaxed);
}

static void would_succeed(struct contender* self) {
  if (atomic_load_explicit(&monitor.successor, memory_order_relaxed) == NULL)
    atomic_store_explicit(&monitor.successor, self, memory_order_relaxed);
}

static bool no_successor(struct contender* self) {
  if (atomic_load(&monitor.successor) != self) return false;
  atomic_store_explicit(&monitor.successor, NULL, memory_order_relaxed);
  return true;
}

// Spins for `left` reads. Returns true if it got the monitor. Sets `in_vain` if the owner stayed.
static bool watch(struct contender* self, bool* in_vain) {
  int left = atomic_load_explicit(&monitor.spinning, memory_order_relaxed);
  *in_vain = false;
  if (left <= 0) return false;
  would_succeed(self);
  for (struct contender* before = NULL; --left >= 0;) {
    if (left % POLL == 0) relax();
    struct contender* owner = atomic_load(&monitor.owner);
    if (!owner) return taken_from(self) == NULL;
    if (before && owner != before) return false;
    before = owner;
    would_succeed(self);
  }
  *in_vain = true;
  return false;
}

static bool spun(struct contender* self) {
  for (int look = 0; look <= LOOKS; ++look) {
    if (try(self)) {
      paid(QUICK_BONUS);
      return true;
    }
    relax();
  }
  bool in_vain;
  if (watch(self, &in_vain)) {
    no_successor(self);
    paid(BONUS);
    return true;
  }
  int now = atomic_load_explicit(&monitor.spinning, memory_order_relaxed);
  if (in_vain && now > 0)
    atomic_store_explicit(&monitor.spinning, now < PENALTY ? 0 : now - PENALTY,
                          memory_order_relaxed);
  if (!no_successor(self)) return false;
  atomic_thread_fence(memory_order_seq_cst);
  return try(self);
}

// Pushes the contender onto the arrivals. Returns true if it took the monitor instead.
static bool arrives(struct contender* self) {
  atomic_store_explicit(&self->where, ARRIVED, memory_order_relaxed);
  struct contender* first = atomic_load(&monitor.arrivals);
  for (;;) {
    self->next = first;
    if (atomic_compare_exchange_strong(&monitor.arrivals, &first, self)) break;
    if (try(self)) return true;
  }
  struct contender* nobody = NULL;
  if (!first && !atomic_load(&monitor.queue))
    atomic_compare_exchange_strong(&monitor.responsible, &nobody, self);
  return false;
}

static void sleeps(struct contender* self) {
  for (long ms = FIRST_SLEEP_MS; !try(self);) {
    if (atomic_load_explicit(&monitor.responsible, memory_order_relaxed) == self) {
      park(self, ms);
      ms = 8 * ms > LONGEST_SLEEP_MS ? LONGEST_SLEEP_MS : 8 * ms;
    } else {
      park(self, 0);
    }
    if (try(self) || spun(self)) return;
    no_successor(self);
    atomic_thread_fence(memory_order_seq_cst);
  }
}

// Removes this thread, the owner, from its list. Arrivals may be pushed at the same time.
static void taken_out(struct contender* self) {
  if (atomic_load_explicit(&self->where, memory_order_relaxed) == QUEUED) {
    if (self->next) self->next->previous = self->previous;
    if (self->previous)
      self->previous->next = self->next;
    else
      atomic_store_explicit(&monitor.queue, self->next, memory_order_relaxed);
  } else {
    struct contender* first = self;
    if (!atomic_compare_exchange_strong(&monitor.arrivals, &first, self->next)) {
      while (first->next != self) first = first->next;
      first->next = self->next;
    }
  }
  atomic_store_explicit(&self->where, RUNS, memory_order_relaxed);
}

static __attribute__((noinline)) void enter_slowly(struct contender* self) {
  if (spun(self)) return;
  atomic_fetch_add(&monitor.count, 1);
  if (!try(self) && !spun(self) && !arrives(self)) {
    sleeps(self);
    taken_out(self);
    no_successor(self);
    if (atomic_load_explicit(&monitor.responsible, memory_order_relaxed) == self) {
      atomic_store_explicit(&monitor.responsible, NULL, memory_order_relaxed);
      atomic_thread_fence(memory_order_seq_cst);
    }
  }
  atomic_fetch_sub(&monitor.count, 1);
}

static void enter(struct contender* self) {
  if (taken_from(self)) enter_slowly(self);
}

// ---- Leaving
// -------------------------------------------------------------------------------------

static void turn_over(void) {
  struct contender* first = atomic_exchange(&monitor.arrivals, NULL);
  atomic_store_explicit(&monitor.queue, first, memory_order_relaxed);
  struct contender* before = NULL;
  for (struct contender* it = first; it; before = it, it = it->next) {
    atomic_store_explicit(&it->where, QUEUED, memory_order_relaxed);
    it->previous = before;
  }
}

static void release(void) {
  atomic_store_explicit(&monitor.owner, NULL, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
}

static void leave(struct contender* self) {
  atomic_store_explicit(&monitor.responsible, NULL, memory_order_relaxed);
  for (;;) {
    release();
    bool sleepers = atomic_load(&monitor.queue) || atomic_load(&monitor.arrivals);
    if (!sleepers || atomic_load(&monitor.successor)) return;
    if (taken_from(self)) return;  // the new owner will wake them
    if (!atomic_load_explicit(&monitor.queue, memory_order_relaxed)) {
      if (!atomic_load(&monitor.arrivals)) continue;
      turn_over();
      if (atomic_load(&monitor.successor)) continue;
    }
    struct contender* first = atomic_load_explicit(&monitor.queue, memory_order_relaxed);
    atomic_store_explicit(&monitor.successor, first, memory_order_relaxed);
    release();
    unpark(first);
    return;
  }
}

// ---- Contention for it
// ---------------------------------------------------------------------------

static uint64_t now(void) {
#ifdef __riscv
  uint64_t time;
  __asm__ volatile("rdtime %0" : "=r"(time));  // ns on machines here
  return time;
#else
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
#endif
}

static void pass(long ns) {
  if (!ns) return;
  for (uint64_t end = now() + (uint64_t)ns; now() < end;) continue;
}

static void* work(void* id) {
  struct contender* self = &all[(size_t)id];
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET((size_t)id, &own);
  sched_setaffinity(0, sizeof own, &own);
  atomic_fetch_add(&arrived, 1);
  while (atomic_load(&arrived) < threads) relax();
  uncore_begin();
  for (long i = 0; i < operations; ++i) {
    enter(self);
    if (guards) ++guarded;
    pass(hold);
    leave(self);
    uncore_op();
    pass(think);
  }
  uncore_end();
  return NULL;
}

int main(int many, char** words) {
  if (many < 5 || atoi(words[1]) < 1 || atoi(words[1]) > MOST_THREADS) {
    fprintf(stderr, "objectmonitor THREADS OPS HOLD THINK [check]\n");
    return 2;
  }
  threads = (unsigned)atoi(words[1]), guards = many > 5;
  operations = atol(words[2]), hold = atol(words[3]), think = atol(words[4]);
  all = aligned_alloc(LINE, threads * sizeof *all);
  pthread_t* started = calloc(threads, sizeof *started);
  if (!all || !started) abort();
  memset(all, 0, threads * sizeof *all);
  for (size_t id = 0; id < threads; ++id)
    if (pthread_create(&started[id], NULL, work, (void*)id)) abort();
  for (size_t id = 0; id < threads; ++id) pthread_join(started[id], NULL);
  return !guards || guarded == operations * threads ? 0 : 1;
}
