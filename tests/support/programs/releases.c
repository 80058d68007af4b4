// Hart 0 publishes a word. Hart 1 reads the flag, executes an LR that releases, and computes the
// address of the word from the value that the LR has read. So it must find the new word.
#include "uncore.h"

static struct {
  UC_ALIGNED _Atomic uint64_t word;
  UC_ALIGNED _Atomic uint64_t flag;
  UC_ALIGNED uint64_t own;
}* shared;

void uc_setup(unsigned n) {
  (void)n;
  shared = uc_alloc(sizeof *shared, 0);
}

static void publish(void) {
  atomic_store_explicit(&shared->word, 1, memory_order_relaxed);
  atomic_store_explicit(&shared->flag, 1, memory_order_release);
}

// Only registers and the LR order the accesses.
static uint64_t word_after_flag(void) {
  uint64_t found;
  __asm__ volatile(
      "1:\tld t0, 0(%1)\n\tbeqz t0, 1b\n\t"
      "lr.d.rl t0, (%2)\n\t"
      "xor t0, t0, t0\n\tadd t0, t0, %3\n\tld %0, 0(t0)"
      : "=&r"(found)
      : "r"(&shared->flag), "r"(&shared->own), "r"(&shared->word)
      : "t0", "memory");
  return found;
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uc_barrier();
  if (id == 0) publish();
  if (id == 1) uc_check(word_after_flag() == 1, "the word is older than its flag");
  uc_op();
}
