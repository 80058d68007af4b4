// Dependent loads of lines that another hart's cache holds: the latency of one such load.
//
// Intel's Memory Latency Checker measures cache-to-cache transfers like this. A holder reads the
// lines (clean; MLC calls the load a HIT) or writes them (dirty, a HITM), then the reader loads one
// after the other, each address depending on the value loaded before. With state=none no hart has
// touched them, and memory answers. The lines' home (--home) may be near the holder, near the
// reader or near neither; this shows whether the directory is in memory or on the chip.
//
// Nothing else is in flight, so this is a latency, not a handoff under contention.
//
// Hart 0 reads, hart 1 holds, all others idle. Every round uses new lines.
//
// Check: every line was loaded once, and held what its holder wrote.
#include "uncore.h"

UC_WORKLOAD("Dependent loads over lines that another hart holds, clean or dirty, or nobody");
UC_PARAM(u64, lines, 64, "lines", "walked over in a round");
UC_PARAM(u64, rounds, 4, "rounds", "each on lines of its own");
UC_PARAM(u64, lines_node, 0, "node", "memory node of the lines");
enum { STATE_NONE, STATE_CLEAN, STATE_DIRTY };
UC_PARAM(choice, state, STATE_DIRTY, "none|clean|dirty", "what the holder does with them first");
UC_TABLE(load, "ps", "a load by the hart of the row of a line that the hart of the column holds");

typedef _Atomic uint64_t line_t;  // 0 at the start, then the line's number plus one

static char* block;

static line_t* line_at(uint64_t index) { return (line_t*)(block + index * UC_BLOCK); }

void uc_setup(unsigned n) {
  uc_require(lines, "lines must be 1 or more");
  block = uc_alloc(lines * rounds * UC_BLOCK, (unsigned)lines_node);
  uc_table_make(&load, n, n);
}

static void hold(uint64_t first) {
  for (uint64_t k = first; k < first + lines; k++)
    if (state == STATE_DIRTY)
      atomic_store_explicit(line_at(k), k + 1, memory_order_relaxed);
    else if (state == STATE_CLEAN)
      (void)atomic_load_explicit(line_at(k), memory_order_relaxed);
}

// Loads a round's lines in turn: the next index depends on the loaded value (its top bit is 0).
static uint64_t walk(uint64_t first) {
  uint64_t k = first + UC_SABOTAGE, sum = 0;
  while (k < first + lines) {
    uint64_t value = atomic_load_explicit(line_at(k), memory_order_relaxed);
    sum += value;
    k += 1 + (value >> 63);
  }
  return sum;
}

static uint64_t expected(uint64_t first) {
  return state == STATE_DIRTY ? lines * first + lines * (lines + 1) / 2 : 0;
}

void uc_main(unsigned id, unsigned n) {
  uint64_t spent = 0;
  bool right = true;
  uc_roi(true);
  for (uint64_t round = 0; round < rounds; round++) {
    uint64_t first = round * lines;
    if (id == 1) hold(first);
    uc_barrier();
    if (id == 0) {
      uc_start();
      uint64_t begin = uc_now(), sum = walk(first);
      spent += uc_now() - begin;
      right = right && sum == (n > 1 ? expected(first) : 0);
      uc_ops(lines);
    }
    uc_barrier();
  }
  uc_roi(false);
  if (id != 0) return;
  uc_check(right, "a line did not hold what its holder wrote");
  if (n > 1 && rounds) *uc_cell(&load, 0, 1) = spent * 1000 / (lines * rounds);
}
