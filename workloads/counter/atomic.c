// One counter, incremented by all harts with one atomic instruction.
//
// This is the oldest shared object, and the lower bound of every scaling curve: no lock, no loop,
// one line that must visit each hart in turn. Gottlieb and Kruskal first described fetch-and-add,
// for the NYU Ultracomputer (1981), whose network combined additions in flight. Today's machines
// move the line to the core (near atomics: x86, most RISC-V) or send the addition to the slice that
// owns it (far atomics: Arm LSE). Under contention the rate is that of ownership transfers, times
// the number of additions that a core completes before it loses the line.
//
// Check: the counter ends at the number of additions.
#include "counter.h"

UC_WORKLOAD("One shared counter, incremented by every hart with an atomic add");

static void add_one(void) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }
