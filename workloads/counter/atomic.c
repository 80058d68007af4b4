// One counter, incremented by all harts with one atomic instruction.
//
// The oldest shared object and the floor of every scaling curve: no lock, no loop, one line that
// must visit each hart in turn. Fetch-and-add was first described by Gottlieb and Kruskal for the
// NYU Ultracomputer (1981), whose network combined additions in flight; today's machines either
// move the line to the core (near atomics: x86, most RISC-V) or send the addition to the slice that
// owns the line (far atomics: Arm LSE). Under contention the rate is the rate of ownership
// transfers, times the additions that a core completes before it loses the line.
//
// Check: the counter ends at the number of additions.
#include "counter.h"

UC_WORKLOAD("One shared counter, incremented by every hart with an atomic add");

static void add_one(void) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }
