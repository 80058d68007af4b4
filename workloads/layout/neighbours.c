// One hart writes a field and all others read the next field, as fast as they can.
//
// Benchmarks measure false sharing like this (the eighth of OpenJDK's JMH samples of contention,
// and its variants). layout/false_sharing.c reads the clock and sets a marker around each access.
// That shows each access, but hides how many accesses a core makes while it has the line.
//
// Check: the field that is read never changes, and no addition is lost.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("A writer and readers of two fields in one line, or on lines of their own");
UC_PARAM(u64, distance, 8, "bytes", "from the written field to the one that is read: 8 to 4096");
UC_PARAM(u64, batch, 32, "accesses", "between two looks at the clock");
UC_PARAM(u64, fields_node, 0, "node", "memory node of both fields");

#define FARTHEST 4096
#define LIMIT (1ull << 40)  // larger than any count

// Volatile, so that the compiler keeps each access; not atomic, because each has one writer.
static volatile uint64_t* count;
static const volatile uint64_t* limit;

void uc_setup(unsigned n) {
  (void)n;
  uc_require(distance && distance % 8 == 0 && distance <= FARTHEST,
             "distance must be a multiple of 8, from 8 to 4096 bytes");
  count = uc_alloc(FARTHEST + sizeof *count, (unsigned)fields_node);
  volatile uint64_t* second = count + (UC_SABOTAGE ? 0 : distance / sizeof *count);
  *second = LIMIT;
  limit = second;
}

static void add(volatile uint64_t* field) {
  for (uint64_t left = batch; left; left--) *field = *field + 1;
}

static uint64_t read(const volatile uint64_t* field) {
  uint64_t seen = LIMIT;
  for (uint64_t left = batch; left; left--) seen &= *field;
  return seen;
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    if (id == 0)
      add(count);
    else
      uc_check(read(limit) == LIMIT, "a field changed that nobody writes");
    uc_ops(batch);
  }
  loop_end();
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(*count == uc_record[0].record.ops, "additions were lost");
}
