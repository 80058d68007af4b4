// Measures the costs of certain access patterns on one hart, for docs/deviations.md. Each pattern
// shows something that a real processor does and the model does not.
//
// A pattern first runs on other memory, so that its code is in the caches. Then it runs on cold
// data, and then on the same data again. The table has the times of these two runs. No other hart
// is active meanwhile.
#include "uncore.h"

UC_WORKLOAD("Sequences that show what the model leaves out");
UC_TABLE(cost, "ns", "each pattern: cold, and repeated");

enum { LINE = 64, PAGE = 4096, MANY = 16 };
enum pattern {
  SEQUENTIAL,   // loads from consecutive lines
  SCATTERED,    // loads from lines that are a page and a line apart
  INDEPENDENT,  // loads whose addresses do not depend on other loads
  CHAINED,      // loads whose address is the value of the previous load
  STORES,       // stores to consecutive lines, then a fence
  STRAIGHT,     // many instructions without a branch
  REGULAR,      // a branch that is taken every second time
  CYCLIC,       // loads from one line more than a set has ways
  PATTERNS
};

static char *memory[PATTERNS], *rehearsal;

static void load(const char* at) { (void)*(volatile const uint64_t*)at; }

static void walk(char* base, size_t step) {
  for (unsigned i = 0; i < MANY; i++) load(base + i * step);
}

static void chained(char* base) {
  for (unsigned i = 0; i < MANY; i++) base = *(char* volatile*)base;
}

static void stores(char* base) {
  for (unsigned i = 0; i < MANY; i++) *(volatile uint64_t*)(base + i * LINE) = i;
  __asm__ volatile("fence rw, rw" ::: "memory");
}

// 256 instructions fill 16 lines of code. There are two copies, so that one stays cold while the
// other is rehearsed.
#define STRAIGHT_CODE __asm__ volatile(".rept 256\n\taddi t0, t0, 1\n\t.endr" ::: "t0")
__attribute__((noinline)) static void straight(void) { STRAIGHT_CODE; }
__attribute__((noinline)) static void straight_elsewhere(void) { STRAIGHT_CODE; }

__attribute__((noinline)) static void regular(void) {
  __asm__ volatile(
      "li t0, 256\n"
      "1: andi t1, t0, 1\n\t"
      "beqz t1, 2f\n\t"
      "nop\n"
      "2: addi t0, t0, -1\n\t"
      "bnez t0, 1b" ::
          : "t0", "t1");
}

static void play(enum pattern pattern, char* base) {
  switch (pattern) {
    case SEQUENTIAL:
    case INDEPENDENT:
      walk(base, LINE);
      break;
    case SCATTERED:
      walk(base, PAGE + LINE);
      break;
    case CHAINED:
      chained(base);
      break;
    case STORES:
      stores(base);
      break;
    case STRAIGHT:
      if (base == rehearsal)
        straight_elsewhere();
      else
        straight();
      break;
    case REGULAR:
      regular();
      break;
    default:
      for (unsigned i = 0; i < 9; i++) load(base + (size_t)i * PAGE);  // 8 ways of 64 sets
  }
}

void uc_setup(unsigned n) {
  (void)n;
  uc_table_make(&cost, PATTERNS, 2);
  for (unsigned i = 0; i < PATTERNS; i++) memory[i] = uc_alloc((size_t)MANY * (PAGE + LINE), 0);
  rehearsal = uc_alloc((size_t)MANY * (PAGE + LINE), 0);
  for (unsigned i = 0; i < MANY; i++) *(char**)(rehearsal + i * LINE) = rehearsal;
  // Hart 0 writes both memories, so their lines are in the same state.
  for (unsigned i = 0; i < MANY; i++) {
    *(char**)(memory[CHAINED] + i * LINE) = memory[CHAINED] + (i + 1) * LINE;
    *(char**)(memory[INDEPENDENT] + i * LINE) = NULL;
  }
}

void uc_main(unsigned id, unsigned n) {
  if (id != n - 1) return;
  for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
    char* base = memory[pattern];
    play(pattern, rehearsal);
    for (unsigned again = 0; again < 2; again++) {
      uint64_t begin = uc_now();
      play(pattern, base);
      *uc_cell(&cost, pattern, again) = uc_now() - begin;
    }
  }
}
