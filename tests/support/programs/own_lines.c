// Each hart reads private lines that were never accessed; hart n reads n lines in each operation.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Harts that wait for memory, and never for one another");

#define HARTS 4
#define LINES 4096  // of each hart

static struct line {
  UC_ALIGNED uint64_t word;
}* lines;

void uc_setup(unsigned n) {
  uc_check(n <= HARTS, "there are lines for four harts");
  lines = uc_alloc(HARTS * LINES * sizeof *lines, 0);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  volatile struct line* next = lines + id * LINES;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    for (unsigned k = 0; k < id; k++) (void)(next++)->word;
    uc_delay(50);
    uc_op();
  }
  loop_end();
}
