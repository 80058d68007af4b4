// Ends the run with status 7, by the semihosting call that a parameter names.
#include "uncore.h"

UC_WORKLOAD("Exits");
UC_PARAM(u64, call, UC_SYS_EXIT, "", "number of the call");

void uc_main(unsigned id, unsigned n) {
  const uint64_t block[] = {UC_SYS_ENDED, 7};
  register uint64_t a0 __asm__("a0") = call;
  register const uint64_t* a1 __asm__("a1") = block;
  if (id != n - 1) return;
  atomic_thread_fence(memory_order_seq_cst);
  __asm__ volatile(".balign 16\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7"
                   : "+r"(a0)
                   : "r"(a1)
                   : "memory");
}
