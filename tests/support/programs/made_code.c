// The program writes a function after its own code and calls it. The function adds 1 to a word.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("A function made at run time");

enum { WORDS = 4 };
static const uint32_t add[WORDS] = {
    0x00053283,  // ld t0, 0(a0)
    0x00128293,  // addi t0, t0, 1
    0x00553023,  // sd t0, 0(a0)
    0x00008067,  // ret
};

uint32_t made[WORDS] __attribute__((aligned(64)));
static uint64_t sums[32] __attribute__((aligned(256)));  // only sums[24] of the table is used

void uc_setup(unsigned n) {
  (void)n;
  for (unsigned i = 0; i < WORDS; i++) ((volatile uint32_t*)made)[i] = add[i];
  __asm__ volatile("fence.i" ::: "memory");
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  void (*const call)(uint64_t*) = (void (*)(uint64_t*))(uintptr_t)made;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    call(&sums[24]);
    uc_op();
  }
  loop_end();
}
