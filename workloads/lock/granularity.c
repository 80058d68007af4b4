// Locking granularity: there are n structures, and every k of them share one lock.
//
// Every kernel began with one lock around everything (Linux's big kernel lock, FreeBSD's
// Giant), then had one for each subsystem, each structure, each field. With k structures under
// a lock, two harts that want different structures still contend for one lock with probability
// k/n; with k = 1 they contend only if they want the same structure. Finer locks do not help
// harts that all want one structure, such as a routing entry: it has one lock whatever the
// granularity.
//
// Each operation takes the lock of a structure and adds one in the structure, which has its own
// line; the lock is lock/ttas.c's without backoff. `pick` selects the structure: `own` (hart i
// always takes structure i mod n, as private data), `random`, or `one` (a shared resource).
//
// Check: the plain sums of all structures add up to the number of operations.
#include "loop.h"
#include "spinlock.h"
#include "uncore.h"

enum pick { PICK_RANDOM, PICK_OWN, PICK_ONE };

UC_WORKLOAD("Lock granularity: one lock for every k of n structures");
UC_PARAM(u64, structures, 256, "structures", "how many there are: n");
UC_PARAM(u64, granule, 1, "structures", "how many share a lock: k; 0: all");
UC_PARAM(choice, pick, PICK_RANDOM, "random|own|one", "which structure a hart wants next");
UC_PARAM(duration, hold, 0, "ns", "time inside the critical section");
UC_PARAM(duration, think, 0, "ns", "time outside, after each release");

static struct structure {
  UC_ALIGNED volatile uint64_t operations;
}* table;

static struct lock {
  UC_ALIGNED struct spinlock spinlock;
}* locks;
static uint64_t per_lock;  // number of structures under one lock

void uc_setup(unsigned n) {
  (void)n;
  uc_require(structures, "structures must be 1 or more");
  per_lock = granule && granule < structures ? granule : structures;
  table = uc_alloc(structures * sizeof *table, 0);
  locks = uc_alloc((structures / per_lock + 1) * sizeof *locks, 0);
}

// Knuth's linear congruential generator (MMIX). Only its upper bits are random enough.
static uint64_t step(uint64_t dice) { return dice * 6364136223846793005 + 1442695040888963407; }

static uint64_t wanted(unsigned id, uint64_t dice) {
  if (pick == PICK_ONE) return 0;
  return (pick == PICK_OWN ? id : dice >> 33) % structures;
}

static void operation(uint64_t index) {
  struct structure* structure = &table[index];
  struct spinlock* lock = &locks[index / per_lock].spinlock;
  uc_start();
  if (!UC_SABOTAGE) spin_lock(lock);
  uint64_t before = structure->operations;
  uc_delay(hold);
  structure->operations = before + 1;
  if (!UC_SABOTAGE) spin_unlock(lock);
  uc_op();
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t dice = id;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    dice = step(dice);
    operation(wanted(id, dice));
    uc_delay(think);
  }
  loop_end();
}

void uc_finish(unsigned n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < structures; i++) sum += table[i].operations;
  uc_check(sum == uc_total_ops(n), "operations on a structure were lost");
}
