// A hart sets its timer to an early time and then to a later one, and sleeps. It must wake at the
// later time.
#include "uncore.h"

UC_PARAM(u64, soon, 1000, "ns", "from now to the time that is set first");
UC_PARAM(u64, later, 3000, "ns", "and to the other");

void uc_main(unsigned id, unsigned n) {
  (void)n;
  volatile uint64_t* due = (volatile uint64_t*)(UC_CLINT_BASE + UC_CLINT_MTIMECMP + 8ul * id);
  const uint64_t now = uc_now();
  __asm__ volatile("csrci mstatus, 8\n\tcsrs mie, %0" ::"r"(128));  // no trap
  *due = now + soon;
  *due = now + later;
  __asm__ volatile("wfi");
  uc_check(uc_now() >= now + later, "a timer that was set anew was due when it had been set first");
  uc_op();
}
