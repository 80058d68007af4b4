// Performs operations for ever, and allocates `bytes` bytes in each of them.
#include "uncore.h"

UC_PARAM(u64, bytes, 0, "B", "allocated and touched for each operation");

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  for (;;) {
    if (bytes) *(volatile char*)uc_alloc(bytes, 0) = 1;
    uc_op();
  }
}
