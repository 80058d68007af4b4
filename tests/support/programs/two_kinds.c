// Operations of two kinds that use the same atomic instruction: `once` executes it once, `twice`
// two times.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("One instruction in operations of two kinds");
UC_KINDS("once|twice");
enum { ONCE, TWICE };

static _Atomic uint64_t* sum;

void uc_setup(unsigned n) {
  (void)n;
  sum = uc_alloc(sizeof *sum, 0);
}

__attribute__((noinline)) static void add(void) { atomic_fetch_add(sum, 1); }

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_kind(ONCE);
    add();
    uc_op();
    uc_kind(TWICE);
    add();
    add();
    uc_op();
  }
  loop_end();
}
