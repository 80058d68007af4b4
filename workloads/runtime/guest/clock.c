// Time in nanoseconds, from the counter that the boot block selects.
#include "../runtime.h"

struct uc_clock uc_clock;

void uc_clock_start(void) {
  const uint64_t second = 1000000000;
  uint64_t hz = uc_boot.timebase_hz, whole = second / hz, remaining = second % hz;
  uc_clock.ns_per_tick = (whole << 32) + (remaining << 32) / hz;
  uc_clock.source = uc_boot.clock;
}

static uint64_t ticks(void) {
  uint64_t now;
  if (uc_clock.source == UC_CLOCK_TIME)
    __asm__ volatile("csrr %0, time" : "=r"(now));
  else if (uc_clock.source == UC_CLOCK_CYCLE)
    __asm__ volatile("csrr %0, cycle" : "=r"(now));
  else
    now = *(volatile uint64_t*)(UC_CLINT_BASE + UC_CLINT_MTIME);
  return now;
}

uint64_t uc_now(void) {
  return (uint64_t)(((unsigned __int128)ticks() * uc_clock.ns_per_tick) >> 32);
}
