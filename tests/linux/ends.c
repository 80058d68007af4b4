// Writes a line and a half, and then ends in the way that the argument names.
#include "raw.h"
#include "uncore_hints.h"

static u32 word, counter;

int run(int count, char** words) {
  const char* const how = count > 1 ? words[1] : "";
  uncore_begin();  // from now on, the watchdog waits for operations
  say("as far as it got\n");
  say("half a line");
  if (same(how, "waits"))
    for (;;) call(N_futex, &word, 0, 0, 0);
  if (same(how, "spins"))
    for (;;) __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
  if (same(how, "traps")) *(volatile int*)16 = 1;
  if (same(how, "asks")) call(425, 1, 2);
  if (same(how, "forks")) call(N_clone, 17, 0, 0, 0, 0);
  if (same(how, "prints"))
    for (;;) say("more and more of a line that a host's memory must not be filled with\n");
  if (same(how, "grows"))
    for (;;) *(char*)call(N_mmap, 0, 4096, 3, 0x22, -1, 0) = 1;
  return 0;
}
