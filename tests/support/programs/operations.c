// Harts perform every atomic operation in every width on shared lines, and sleep in between.
//
// The table has a hash of all values that each hart read from memory and from its cycle counter. If
// it is the same on two engines, both did the same operations on the same bytes in the same order.
//
// Check: a hart that has set its timer sleeps until then, and not much longer.
#include "uncore.h"

UC_WORKLOAD("Atomic operations of every kind and width, and timers");
UC_PARAM(u64, ops, 20, "operations", "by each hart");
UC_PARAM(u64, lines, 3, "lines", "shared ones");
UC_TABLE(read, "hash", "of all that each hart has read");

#define TIMER 128  // bit of mie
#define MTIMECMP ((volatile uint64_t*)(UC_CLINT_BASE + UC_CLINT_MTIMECMP))

static char* shared;

void uc_setup(unsigned n) {
  shared = uc_alloc(lines * 64, 0);
  uc_table_make(&read, n, 1);
}

static uint64_t draw(uint64_t* random, uint64_t below) {  // xorshift64
  uint64_t x = *random;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  *random = x;
  return (x >> 16) % below;
}

// Executes the AMO with these encodings of the manual. A compare-and-swap compares with `old`.
#define AMO(kind, width, order)                                                       \
  __asm__ volatile(".insn r 0x2f, " #width ", " #kind " * 4 + " #order ", %0, %1, %2" \
                   : "+r"(old)                                                        \
                   : "r"(at), "r"(value)                                              \
                   : "memory")
#define ALL_WIDTHS(number, kind) \
  case number * 4:               \
    AMO(kind, 0, 0);             \
    break;                       \
  case number * 4 + 1:           \
    AMO(kind, 1, 3);             \
    break;                       \
  case number * 4 + 2:           \
    AMO(kind, 2, 2);             \
    break;                       \
  case number * 4 + 3:           \
    AMO(kind, 3, 0);             \
    break
#define KINDS 10

static uint64_t operate(uint64_t number, char* at, uint64_t value, uint64_t old) {
  switch (number) {
    ALL_WIDTHS(0, 0x00);  // add
    ALL_WIDTHS(1, 0x01);  // swap
    ALL_WIDTHS(2, 0x04);  // xor
    ALL_WIDTHS(3, 0x05);  // cas
    ALL_WIDTHS(4, 0x08);  // or
    ALL_WIDTHS(5, 0x0c);  // and
    ALL_WIDTHS(6, 0x10);  // min
    ALL_WIDTHS(7, 0x14);  // max
    ALL_WIDTHS(8, 0x18);  // minu
    ALL_WIDTHS(9, 0x1c);  // maxu
  }
  return old;
}

// Compares and swaps two words; it succeeds as often as it fails.
static uint64_t exchange_pair(char* at, uint64_t value) {
  register uint64_t low __asm__("a2") = *(volatile uint64_t*)at;
  register uint64_t high __asm__("a3") = *(volatile uint64_t*)(at + 8) ^ (value & 1);
  register uint64_t new_low __asm__("a4") = value;
  register uint64_t new_high __asm__("a5") = ~value;
  __asm__ volatile(".insn r 0x2f, 4, 0x05 * 4, %0, %2, %3"
                   : "+r"(low), "+r"(high)
                   : "r"(at), "r"(new_low), "r"(new_high)
                   : "memory");
  return low ^ high;
}

// Adds without reading the old value.
static void post(char* at, uint64_t value) {
  __asm__ volatile("amoadd.d zero, %1, (%0)" ::"r"(at), "r"(value) : "memory");
}

// Sleeps until the hart's own timer is due, without taking its interrupt.
static void nap(unsigned id, uint64_t ns) {
  uint64_t due = uc_now() + ns;
  uc_interrupts_off();
  __asm__ volatile("csrs mie, %0" ::"r"(TIMER));
  MTIMECMP[id] = due;
  __asm__ volatile("wfi");
  uc_check(uc_now() >= due, "a hart slept too little");
  MTIMECMP[id] = ~(uint64_t)0;
  __asm__ volatile("csrc mie, %0" ::"r"(TIMER));
  uc_interrupts_restore(true);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t random = (id + 1) * 0x9e3779b97f4a7c15, hash = 0, cycle;
  uc_barrier();
  for (uint64_t i = 0; i < ops; i++) {
    uint64_t kind = draw(&random, KINDS + 4), width = draw(&random, 4);
    char* line = shared + draw(&random, lines) * 64;
    char* at = line + (draw(&random, 16) << 3) % 64;
    if (kind < KINDS)
      hash = hash * 31 + operate(kind * 4 + width, at, random, hash);
    else if (kind == KINDS)
      hash = hash * 31 + exchange_pair(line + draw(&random, 4) * 16, random);
    else if (kind < KINDS + 3)
      post(at, random);
    else
      nap(id, draw(&random, 2000));
    __asm__ volatile("csrr %0, cycle" : "=r"(cycle));
    hash ^= cycle;
    uc_op();
  }
  uc_barrier();
  for (uint64_t at = 0; at < lines * 8; at++) hash = hash * 31 + ((uint64_t*)shared)[at];
  *uc_cell(&read, id, 0) = hash;
}
