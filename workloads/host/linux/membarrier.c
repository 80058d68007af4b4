// Measures the cost of an interprocessor interrupt to its sender by membarrier(PRIVATE_EXPEDITED).
//
// The call returns when every processor that runs a thread of this process has executed a barrier.
// Linux interrupts exactly these processors. So if the other threads run, the call takes an IPI to
// each and back; if all of them sleep, it is the same call without IPIs. No other system call that
// needs no privileges sends IPIs to chosen processors and waits for them.
//
// Linux does not report whether it sent an IPI. So each other thread runs a loop that reads the
// clock, and detects an interrupt as a gap. Hart 0 makes a call only when all others run, and
// records with it how many saw a gap meanwhile. Calls without a gap (the thread had just been
// preempted, or the interrupt was too short to detect) must not be averaged with the rest.
//
// It runs on a host only, never as a guest, because it measures a system call.
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uncore.h"

UC_PARAM(u64, calls, 1000, "calls", "measured");
UC_PARAM(duration, between, 5000, "ns", "time between two calls");
enum { OTHERS_RUN, OTHERS_SLEEP };
UC_PARAM(choice, others, OTHERS_RUN, "run|sleep", "what the other threads do");
UC_TABLE(call, "ns", "a row a call: how long it took; how many others were interrupted meanwhile");
UC_TABLE(quiet, "ns", "a row a thread: median and longest turn of its loop before the calls");

#define TURNS 4096  // iterations of the loop that are timed before the calls

static struct watch {
  UC_ALIGNED _Atomic uint64_t beats;  // iterations of the loop
  _Atomic uint64_t gaps;              // iterations that took too long
}* watches;

static _Atomic bool over;
static uint64_t (*turns)[TURNS];

static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

void uc_setup(unsigned n) {
  uc_check(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0,
           "the kernel has no membarrier(PRIVATE_EXPEDITED), or forbids it");
  watches = uc_alloc(n * sizeof *watches, 0);
  turns = uc_alloc(n * sizeof *turns, 0);
  uc_table_make(&call, calls, 2);
  uc_table_make(&quiet, n, 2);
}

static int ascending(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

void qsort(void* base, size_t count, size_t size, int (*compare)(const void*, const void*));

// Returns the longest time of an iteration, in ns, that counts as undisturbed: twice the median,
// plus a margin of 100 ns.
static uint64_t longest_quiet(unsigned id) {
  uint64_t last = uc_now();
  for (unsigned turn = 0; turn < TURNS; turn++) {
    uint64_t now = uc_now();
    turns[id][turn] = now - last;
    last = now;
  }
  qsort(turns[id], TURNS, sizeof turns[id][0], ascending);
  *uc_cell(&quiet, id, 0) = turns[id][TURNS / 2];
  *uc_cell(&quiet, id, 1) = turns[id][TURNS - 1];
  return 2 * turns[id][TURNS / 2] + 100;
}

static void watch_for_gaps(unsigned id) {
  struct watch* own_watch = &watches[id];
  uint64_t too_long = longest_quiet(id), last = uc_now();
  while (!atomic_load_explicit(&over, memory_order_relaxed)) {
    uint64_t now = uc_now();
    if (now - last > too_long)
      atomic_store_explicit(&own_watch->gaps, own_watch->gaps + 1, memory_order_relaxed);
    last = now;
    atomic_store_explicit(&own_watch->beats, own_watch->beats + 1, memory_order_release);
  }
}

// Waits for two iterations of each thread, so that one has begun after this function was called.
static void await_running(unsigned n) {
  for (unsigned hart = 1; hart < n && others == OTHERS_RUN; hart++) {
    uint64_t before = atomic_load(&watches[hart].beats);
    while (atomic_load(&watches[hart].beats) < before + 2) uc_pause();
  }
}

static void call_often(unsigned n) {
  uint64_t* before = uc_alloc(n * sizeof *before, 0);
  for (uint64_t i = 0; i < calls; i++) {
    uc_delay(between);
    await_running(n);
    for (unsigned hart = 1; hart < n; hart++) before[hart] = atomic_load(&watches[hart].gaps);
    uint64_t begin = uc_now();
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    *uc_cell(&call, i, 0) = uc_now() - begin;
    await_running(n);
    for (unsigned hart = 1; hart < n; hart++)
      *uc_cell(&call, i, 1) += atomic_load(&watches[hart].gaps) != before[hart];
  }
  atomic_store(&over, true);
  for (unsigned hart = 1; hart < n; hart++) uc_ipi(hart);
}

void uc_main(unsigned id, unsigned n) {
  uc_barrier();
  uc_roi(true);
  if (id == 0)
    call_often(n);
  else if (others == OTHERS_RUN)
    watch_for_gaps(id);
  else
    while (!atomic_load(&over)) uc_wait();
  if (id == 0) uc_ops(calls);
  uc_roi(false);
}
