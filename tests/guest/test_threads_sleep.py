"""Do sleeping threads wake up in the right order and on the right hart, and is no wake-up lost?"""

from __future__ import annotations

import pytest

# Threads take turns. All sleep on one channel, and the thread whose turn it is wakes all others.
# After a lost wake-up no thread would continue.
TURNS = """
#include "scheduler.h"
UC_PARAM(u64, threads, 8, "threads", "that take turns");
UC_PARAM(u64, rounds, 40, "turns", "of each");
UC_PARAM(choice, bind, 0, "any|one", "each thread to any hart, or to one");
static _Atomic uint64_t *turn, *moved;
static void take_turns(void* argument) {
  uint64_t self = (uint64_t)argument;
  for (uint64_t round = 0; round < rounds; round++) {
    unsigned hart = uc_id();
    uc_sleepq_lock(turn);
    while (*turn % threads != self) {
      uc_sleepq_wait(turn);
      uc_sleepq_lock(turn);
    }
    uc_sleepq_release(turn);
    ++*turn;
    uc_wakeup(turn);
    if (round % 3 == 0) uc_yield();
    *moved += hart != uc_id();
    uc_op();
  }
}
void uc_setup(unsigned n) {
  uc_sched_setup(n);
  turn = uc_alloc(sizeof *turn, 0);
  moved = uc_alloc(sizeof *moved, 0);
  for (uint64_t self = 0; self < threads; self++)
    uc_thread_create(take_turns, (void*)self, bind ? uc_cpuset_range(self % n, 1) : NULL);
}
void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  uc_barrier();
  uc_sched_run();
}
void uc_finish(unsigned n) {
  uc_check(*turn == threads * rounds, "turns are missing");
  uc_check(uc_total_ops(n) == threads * rounds, "operations are missing");
  uc_check(!bind || *moved == 0, "a bound thread moved");
}
"""


@pytest.mark.parametrize(
    ("harts", "parameters"),
    [
        (1, {"threads": 5}),
        (2, {"threads": 7, "bind": 1}),
        (4, {"threads": 9}),
        (4, {"threads": 9, "bind": 1}),
        (4, {"threads": 3, "idle": 1}),
        (4, {"threads": 4, "switch_cost": 1000}),
    ],
)
def test_threads_that_wake_each_other_lose_no_wake_up(
    qemu, compile_guest, harts, parameters
) -> None:
    outcome = qemu(compile_guest(TURNS).path, harts, **parameters)
    assert outcome.status == 0, outcome.console


def test_most_urgent_thread_runs_first_after_creation_and_after_a_wake_up(
    qemu, compile_guest
) -> None:
    """Threads run in the order of their priority, which may be lent; equal threads run in the order
    of their arrival. This holds both after their creation and after a wake-up.
    """
    program = compile_guest("""
        #include "scheduler.h"
        static struct uc_thread* threads[4];
        static uint64_t order, asleep;
        static void note(void* argument) {
          order = order * 10 + (uint64_t)argument;
          uc_sleepq_lock(&order);
          asleep++;
          uc_sleepq_wait(&order);
          order = order * 10 + (uint64_t)argument;
        }
        void uc_setup(unsigned n) {
          uc_sched_setup(n);
          for (uint64_t i = 0; i < 4; i++) threads[i] = uc_thread_create(note, (void*)(i + 1), 0);
          uc_thread_lend(threads[2], 7);
        }
        void uc_main(unsigned id, unsigned n) {
          (void)id, (void)n;
          while (asleep < 4) uc_yield();
          uc_check(order == 3124, "threads did not start in order of urgency");
          order = 0;
          uc_thread_lend(threads[2], UC_PRIORITY_NORMAL);
          uc_thread_lend(threads[3], 9);
          uc_check(uc_wakeup_one(&order) == 1, "one sleeper is woken");
          uc_yield();
          uc_check(order == 4, "the most urgent sleeper is woken first");
          uc_check(uc_wakeup(&order) == 3, "all sleepers are woken");
          uc_sched_run();
          uc_check(order == 4312, "equals run in order of arrival");
          uc_check(uc_wakeup(&order) == 0, "nobody sleeps any more");
        }
    """)
    outcome = qemu(program.path, 1)
    assert outcome.status == 0, outcome.console


def test_interrupt_handler_may_wake_a_thread_of_an_idle_hart(qemu, compile_guest) -> None:
    program = compile_guest("""
        #include "scheduler.h"
        static _Atomic uint64_t rings, heard;
        static void on_ipi(void) { uc_wakeup(&heard); }
        static void ring(void* argument) {
          (void)argument;
          for (uint64_t i = 1; i <= 200; i++) {
            rings = i;
            uc_ipi(0);
            while (heard != i) uc_pause();
          }
        }
        static void listen(void* argument) {
          (void)argument;
          for (uint64_t i = 1; i <= 200; i++) {
            uc_sleepq_lock(&heard);
            while (rings != i) {
              uc_sleepq_wait(&heard);
              uc_sleepq_lock(&heard);
            }
            uc_sleepq_release(&heard);
            heard = i;
          }
        }
        void uc_setup(unsigned n) {
          uc_sched_setup(n);
          uc_thread_create(listen, NULL, uc_cpuset_range(0, 1));
          uc_thread_create(ring, NULL, uc_cpuset_range(1, 1));
        }
        void uc_main(unsigned id, unsigned n) {
          (void)id, (void)n;
          uc_on_ipi(on_ipi);
          uc_barrier();
          uc_sched_run();
        }
    """)
    outcome = qemu(program.path, 2)
    assert outcome.status == 0, outcome.console
