// Hart 0 publishes a word. Hart 1 reads the flag by an LR with acquire order. The word that it
// reads afterwards must not be older than the flag.
#include "uncore.h"

static struct {
  UC_ALIGNED _Atomic uint64_t word;
  UC_ALIGNED _Atomic uint64_t flag;
}* shared;

void uc_setup(unsigned n) {
  (void)n;
  shared = uc_alloc(sizeof *shared, 0);
}

static void publish(void) {
  atomic_store_explicit(&shared->word, 1, memory_order_relaxed);
  atomic_store_explicit(&shared->flag, 1, memory_order_release);
}

// Only the LR orders the accesses.
static uint64_t found_behind_the_flag(void) {
  uint64_t found;
  __asm__ volatile("1:\tlr.d.aq t0, (%1)\n\tbeqz t0, 1b\n\tld %0, 0(%2)"
                   : "=&r"(found)
                   : "r"(&shared->flag), "r"(&shared->word)
                   : "t0", "memory");
  return found;
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uc_barrier();
  if (id == 0) publish();
  if (id == 1) uc_check(found_behind_the_flag() == 1, "the word is older than its flag");
  uc_op();
}
