// Three kinds of operations with obvious conflicts: `add` writes the counter that `look` reads, and
// `own` writes this hart's own number. The numbers of two successive harts are `apart` bytes apart.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Operations of which some conflict");
UC_KINDS("add|look|own");
enum { ADD, LOOK, OWN };
UC_PARAM(u64, apart, 128, "bytes", "from one hart's number to the next one's");

static _Atomic uint64_t* sum;
static _Atomic uint64_t* numbers;

void uc_setup(unsigned n) {
  sum = uc_alloc(sizeof *sum, 0);
  numbers = uc_alloc(n * apart, 0);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  _Atomic uint64_t* mine = numbers + id * apart / sizeof *numbers;
  uc_kind(ADD);  // outside the region of interest, so it must not count
  *mine = *sum;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_kind(ADD);
    (*sum)++;
    uc_op();
    uc_kind(LOOK);
    atomic_load(sum);
    uc_op();
    uc_kind(OWN);
    (*mine)++;
    uc_op();
  }
  loop_end();
}
