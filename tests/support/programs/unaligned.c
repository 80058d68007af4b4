// Harts load and store at any address of shared lines: aligned or not, within a line and across the
// end of a line.
//
// The table has a hash of all values that each hart read from memory and from its cycle counter. If
// it is the same on two engines, both did the same accesses to the same bytes in the same order.
//
// Check: a hart reads back what it wrote across the end of one of its own lines.
#include "uncore.h"

UC_WORKLOAD("Loads and stores that need not be aligned");
UC_PARAM(u64, ops, 40, "operations", "by each hart");
UC_PARAM(u64, lines, 4, "lines", "shared ones");
UC_TABLE(read, "hash", "of all that each hart has read");

#define OWN 128  // bytes of each hart, after the shared lines

static char* shared;

void uc_setup(unsigned n) {
  shared = uc_alloc(lines * 64 + n * OWN, 0);
  uc_table_make(&read, n, 1);
}

static uint64_t draw(uint64_t* random, uint64_t below) {  // xorshift64
  uint64_t x = *random;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  *random = x;
  return (x >> 16) % below;
}

#define LOAD(name) __asm__ volatile(#name " %0, (%1)" : "=r"(value) : "r"(at) : "memory")
#define STORE(name) __asm__ volatile(#name " %0, (%1)" ::"r"(value), "r"(at) : "memory")

static uint64_t access(uint64_t kind, char* at, uint64_t value) {
  switch (kind) {
    case 0:
      LOAD(lh);
      break;
    case 1:
      LOAD(lwu);
      break;
    case 2:
      LOAD(ld);
      break;
    case 3:
      STORE(sh);
      break;
    case 4:
      STORE(sw);
      break;
    case 5:
      STORE(sd);
      break;
    case 6:  // fld f0; fadd.d f0, f0, f0
      __asm__ volatile(".insn i 0x07, 3, x0, 0(%0)\n.insn r 0x53, 7, 1, x0, x0, x0" ::"r"(at));
      break;
    case 7:  // fsd f0
      __asm__ volatile(".insn s 0x27, 3, x0, 0(%0)" ::"r"(at) : "memory");
      break;
    case 8:  // flw f0; fmv.x.d
      __asm__ volatile(".insn i 0x07, 2, x0, 0(%1)\n.insn r 0x53, 0, 0x71, %0, x0, x0"
                       : "=r"(value)
                       : "r"(at));
      break;
  }
  return value;
}
#define KINDS 9
#define FLOATS 0x2000  // of mstatus

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t random = (id + 1) * 0x9e3779b97f4a7c15, hash = 0, cycle;
  char* own = shared + lines * 64 + id * OWN + 57;
  __asm__ volatile("csrs mstatus, %0" ::"r"(FLOATS));
  uc_barrier();
  for (uint64_t i = 0; i < ops; i++) {
    char* at = shared + draw(&random, lines * 64 - 7);
    hash = hash * 31 + access(draw(&random, KINDS), at, random);
    access(5, own + i % 7, hash);
    uc_check(access(2, own + i % 7, 0) == hash, "what was written is not what is read");
    __asm__ volatile("csrr %0, cycle" : "=r"(cycle));
    hash ^= cycle;
    uc_op();
  }
  uc_barrier();
  for (uint64_t at = 0; at < lines * 8; at++) hash = hash * 31 + ((uint64_t*)shared)[at];
  *uc_cell(&read, id, 0) = hash;
}
