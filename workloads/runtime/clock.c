// Time in nanoseconds, from whichever counter the boot block names.
#include "runtime.h"

// Read-only once harts run. Nanoseconds per tick as a 32.32 fixed-point number: exact for every
// frequency that divides 1 GHz.
static UC_ALIGNED struct {
  uint64_t ns_per_tick;
  uint64_t source;
} the_clock;

void uc_clock_start(void) {
  const uint64_t second = 1000000000;
  uint64_t hz = uc_boot.timebase_hz, whole = second / hz, rest = second % hz;
  the_clock.ns_per_tick = (whole << 32) + (rest << 32) / hz;
  the_clock.source = uc_boot.clock;
}

static uint64_t ticks(void) {
  uint64_t now;
  if (the_clock.source == UC_CLOCK_TIME)
    __asm__ volatile("csrr %0, time" : "=r"(now));
  else if (the_clock.source == UC_CLOCK_CYCLE)
    __asm__ volatile("csrr %0, cycle" : "=r"(now));
  else
    now = *(volatile uint64_t*)(UC_CLINT_BASE + UC_CLINT_MTIME);
  return now;
}

uint64_t uc_now(void) {
  return (uint64_t)(((unsigned __int128)ticks() * the_clock.ns_per_tick) >> 32);
}

void uc_delay(uint64_t ns) {
  if (ns == 0) return;
  uint64_t end = uc_now() + ns;
  for (uint64_t now = uc_now(); (int64_t)(end - now) > 0; now = uc_now()) {
    UC_MARK(UC_MARK_DELAY, end - now);
    uc_pause();
  }
}
