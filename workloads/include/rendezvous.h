// A function call on all harts: each runs the function in its interrupt handler, and the caller
// waits until all have run it.
//
// It is like FreeBSD's smp_rendezvous(9) and Linux's on_each_cpu. A processor uses it to make every
// other one drop something that it holds privately (translations, permission to read without
// asking). It takes an interrupt on each hart and an acknowledgement by each in one counter. It is
// one of the most expensive actions of a kernel, and its cost grows with the machine.
//
//     rendezvous_setup(n)                   in uc_setup
//     rendezvous_join()                     in uc_main, on every hart, before the first rendezvous
//     rendezvous(wanted, action, argument)  runs action where wanted(hart, argument) is true
//
// There is one call at a time, under a spin mutex. Harts that wait for the mutex have interrupts
// on, so callers cannot deadlock. A caller must not hold another lock with interrupts off. All
// harts must stay in uc_main as long as any hart may call.
#ifndef UNCORE_RENDEZVOUS_H_
#define UNCORE_RENDEZVOUS_H_

#include "mtx.h"

static struct rendezvous {
  UC_ALIGNED struct mtx mutex;
  unsigned harts;
  void (*action)(void* argument);
  void* argument;
  UC_ALIGNED _Atomic unsigned outstanding;  // number of acknowledgements still to come
}* rendezvous_;

// Set for a hart that is called. Its handler needs to know, because other IPIs arrive as well.
static struct rendezvous_call {
  UC_ALIGNED _Atomic unsigned asked;
}* rendezvous_calls;

static inline void rendezvous_setup(unsigned n) {
  if (rendezvous_) return;
  rendezvous_ = uc_alloc(sizeof *rendezvous_, 0);
  rendezvous_calls = uc_alloc(n * sizeof *rendezvous_calls, 0);
  rendezvous_->harts = n;
}

static inline void rendezvous_answer(void) {
  if (!atomic_exchange_explicit(&rendezvous_calls[uc_id()].asked, 0, memory_order_acquire)) return;
  rendezvous_->action(rendezvous_->argument);
  atomic_fetch_sub_explicit(&rendezvous_->outstanding, 1, memory_order_release);
}

static inline void rendezvous_join(void) { uc_on_ipi(rendezvous_answer); }

static inline void rendezvous_ask(unsigned hart) {
  atomic_fetch_add_explicit(&rendezvous_->outstanding, 1, memory_order_relaxed);
  atomic_store_explicit(&rendezvous_calls[hart].asked, 1, memory_order_release);
  uc_ipi(hart);
}

static inline void rendezvous(bool (*wanted)(unsigned hart, void* argument),
                              void (*action)(void* argument), void* argument) {
  mtx_lock_spin(&rendezvous_->mutex);
  rendezvous_->action = action;
  rendezvous_->argument = argument;
  unsigned self = uc_id();
  for (unsigned hart = 0; hart < rendezvous_->harts; hart++)
    if (hart != self && wanted(hart, argument)) rendezvous_ask(hart);
  if (wanted(self, argument)) action(argument);
  while (atomic_load_explicit(&rendezvous_->outstanding, memory_order_acquire)) uc_pause();
  mtx_unlock_spin(&rendezvous_->mutex);
}

#endif  // UNCORE_RENDEZVOUS_H_
