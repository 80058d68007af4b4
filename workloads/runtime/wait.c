// Waits for time and for interrupts, on both guest and host.
#include "runtime.h"

void uc_delay(uint64_t ns) {
  if (ns == 0) return;
  uint64_t end = uc_now() + ns;
  for (uint64_t now = uc_now(); (int64_t)(end - now) > 0; now = uc_now()) {
    UC_MARK(UC_MARK_DELAY, end - now);
    uc_pause();
  }
}

void uc_on_ipi(void (*handler)(void)) { uc_hart()->on_ipi = handler; }

// Interrupts are off so that none is taken between the test and the sleep. A pending one still ends
// the sleep, and is taken when interrupts are on again.
void uc_wait(void) {
  struct uc_hart* self = uc_hart();
  while (self->ipis_taken == self->ipis_waited) {
    uc_interrupts_off();
    if (self->ipis_taken == self->ipis_waited) uc_sleep_until_interrupt();
    uc_interrupts_restore(true);
  }
  self->ipis_waited = self->ipis_taken;
}
