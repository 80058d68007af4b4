// Hart 1 writes a word and interrupts hart 0, whose handler must find the new value.
#include "uncore.h"

UC_PARAM(u64, ops, 20, "ops", "interrupts");

static struct {
  UC_ALIGNED _Atomic uint64_t written;
  UC_ALIGNED _Atomic uint64_t taken;
}* words;
static uint64_t handled;

void uc_setup(unsigned n) {
  (void)n;
  words = uc_alloc(sizeof *words, 0);
}

static void handler(void) {
  handled++;
  uint64_t found = atomic_load_explicit(&words->written, memory_order_relaxed);
  uc_check(found == handled, "the handler saw a word older than its interrupt");
  atomic_store_explicit(&words->taken, handled, memory_order_release);
}

void uc_main(unsigned id, unsigned n) {
  if (id == 0 && n > 1) uc_on_ipi(handler);
  uc_barrier();
  for (uint64_t i = 1; id == 1 && i <= ops; i++) {
    atomic_store_explicit(&words->written, i, memory_order_relaxed);
    uc_ipi(0);
    while (atomic_load_explicit(&words->taken, memory_order_acquire) != i) uc_pause();
    uc_op();
  }
  while (id == 0 && atomic_load_explicit(&words->taken, memory_order_acquire) != ops) uc_pause();
}
