// A hart executes a few instructions around a load that hits, and records how long they take.
//
// Every word holds its own address, so what a load reads can be the address of another access.
#include "uncore.h"

UC_WORKLOAD("Loads that hit, and the first uses of their values");
UC_PARAM(u64, code, 0, "number", "of the instructions, see measure()");
UC_TABLE(duration, "ns", "of the instructions");

static UC_ALIGNED void* words[8];

void uc_setup(unsigned n) {
  uc_check(n == 1, "one hart");
  for (unsigned i = 0; i < 8; i++) words[i] = &words[i];
  uc_table_make(&duration, 1, 1);
}

// The fence empties the store buffer first. The nops end the paths of loads (rule H10.1) before the
// clock is read again.
#define TIME(instructions)                                         \
  __asm__ volatile("fence\n\tcsrr %0, time\n\t" instructions       \
                   "\n\t.rept 24\n\tnop\n\t.endr\n\tcsrr %1, time" \
                   : "=&r"(begin), "=&r"(end)                      \
                   : "r"(words)                                    \
                   : "memory", "t0", "t1", "t2")

static uint64_t measure(void) {
  uint64_t begin = 0, end = 0;
  switch (code) {
    case 0:  // no use
      TIME("ld t0, 0(%2)");
      break;
    case 1:  // the address of the next instruction
      TIME("ld t0, 0(%2)\n\tld t1, 0(t0)");
      break;
    case 2:  // the address of an access behind two instructions
      TIME("ld t0, 0(%2)\n\tnop\n\tnop\n\tld t1, 0(t0)");
      break;
    case 3:  // behind as many instructions as a hit takes
      TIME("ld t0, 0(%2)\n\tnop\n\tnop\n\tnop\n\tnop\n\tld t1, 0(t0)");
      break;
    case 4:  // the value of which an address is computed
      TIME("ld t0, 0(%2)\n\taddi t2, t0, 8\n\tld t1, 0(t2)");
      break;
    case 5:  // a value that is overwritten before its register is an address
      TIME("ld t0, 0(%2)\n\tmv t0, %2\n\tld t1, 0(t0)");
      break;
    case 6:  // the address of a store
      TIME("ld t0, 0(%2)\n\tsd t0, 0(t0)");
      break;
    case 7:  // the value of a store
      TIME("ld t0, 0(%2)\n\tsd t0, 0(%2)");
      break;
    case 8:  // a branch that is not taken, as expected
      TIME("ld t0, 0(%2)\n\tbeqz t0, 1f\n1:");
      break;
    case 9:  // an address behind such a branch
      TIME("ld t0, 0(%2)\n\tbeqz t0, 1f\n\tld t1, 0(t0)\n1:");
      break;
    case 10:  // a full fence
      TIME("ld t0, 0(%2)\n\tfence rw, rw");
      break;
    case 11:  // a fence that orders no write before a read
      TIME("ld t0, 0(%2)\n\tfence r, rw");
      break;
    case 12:  // an atomic, which waits for all values
      TIME("ld t0, 0(%2)\n\tnop\n\tlr.d t1, (%2)");
      break;
    case 13:  // two loads whose values are used at the same distance
      TIME("ld t0, 0(%2)\n\tld t1, 8(%2)\n\tld t0, 0(t0)\n\tld t1, 0(t1)");
      break;
    case 14:  // an indirect jump, behind which nothing is known
      TIME("ld t0, 0(%2)\n\tla t2, 1f\n\tjr t2\n1:\tld t1, 0(t0)");
      break;
    case 15:  // a jump, whose target is known
      TIME("ld t0, 0(%2)\n\tj 1f\n\tnop\n1:\tld t1, 0(t0)");
      break;
    case 16:  // a loop of ten loads, each of which reads the address of the next one
      TIME("mv t0, %2\n\tli t2, 10\n1:\tld t0, 0(t0)\n\taddi t2, t2, -1\n\tbnez t2, 1b");
      break;
  }
  return end - begin;
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uc_roi(true);
  for (int i = 0; i < 2; i++) *uc_cell(&duration, id, 0) = measure();  // the first one misses
  uc_op();
  uc_roi(false);
}
