// Measures the time to wake a thread that sleeps on another processor by Linux's futex(2).
//
// The waker changes a word and calls FUTEX_WAKE; the kernel makes the sleeper runnable and, if its
// processor idles, sends an interprocessor interrupt or writes the word it monitors. The wake-up
// time runs from before this call to the sleeper's first instruction after its FUTEX_WAIT. It has
// an IPI, the exit from the idle state and a context switch. It grows with the depth of the idle
// state, and so with `idle`, the time for which the sleeper sleeps before it is woken.
//
// It runs on a host only, because it measures a system call. uncore.h creates the threads.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uncore.h"

UC_PARAM(u64, wakes, 200, "wake-ups", "measured");
UC_PARAM(duration, idle, 100000, "ns", "time the sleeper is left alone before each");
UC_TABLE(wake, "ns", "a row a wake-up: to the sleeper's first instruction; the call; really slept");

static struct {
  UC_ALIGNED _Atomic uint32_t round;  // the futex word: number of the current round
  UC_ALIGNED _Atomic uint64_t woken;  // when the sleeper woke; 0: not yet
} word;

void uc_setup(unsigned n) {
  uc_check(n == 2, "a waker and a sleeper: n=2");
  uc_table_make(&wake, wakes, 3);
}

static void sleep_and_tell(void) {
  for (uint32_t round = 0; round < wakes; round++) {
    while (atomic_load(&word.round) == round)
      syscall(SYS_futex, &word.round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
    atomic_store(&word.woken, uc_now());
  }
}

static void wake_and_watch(void) {
  for (uint32_t round = 0; round < wakes; round++) {
    uc_delay(idle);
    atomic_store(&word.woken, 0);
    uint64_t begin = uc_now();
    atomic_store(&word.round, round + 1);
    long slept = syscall(SYS_futex, &word.round, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    uint64_t called = uc_now(), woken;
    while (!(woken = atomic_load(&word.woken))) uc_pause();
    *uc_cell(&wake, round, 0) = woken - begin;
    *uc_cell(&wake, round, 1) = called - begin;
    *uc_cell(&wake, round, 2) = slept == 1;
  }
}

void uc_main(unsigned id, unsigned n) {
  uc_barrier();
  uc_roi(true);
  if (n == 2 && id == 0) wake_and_watch();
  if (n == 2 && id == 1) sleep_and_tell();
  uc_ops(wakes);
  uc_roi(false);
}
