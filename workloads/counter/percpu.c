// One counter with a part for each hart: an addition touches no line that another hart writes.
//
// This avoids the contention of counter/atomic.c. Dillon (2017) found that DragonFly spent one or
// two microseconds on each statistics counter that a large machine shared, and made all of them
// per-CPU. The cost moves to the reader, who reads one line per hart, each owned by its writer;
// harts read the sum after every `read_every` additions. Linux folds a part into a common total
// when it reaches `batch`; reading is then one load, and nearly exact. `distance` 8 packs the parts
// into as few lines as possible, so that they are shared again (see false_sharing.c).
//
// Check: a reader never sees less than it saw before, and at the end the sum is the number of
// additions.
#include "loop.h"
#include "percpu_counter.h"
#include "uncore.h"

UC_WORKLOAD("A counter with a part per hart, folded in batches, and its reader");
UC_PARAM(u64, distance, 128, "bytes", "from one hart's part to the next one's, in words");
UC_PARAM(u64, batch, 0, "additions", "fold a part into the total when it reaches this; 0: never");
UC_PARAM(u64, read_every, 0, "additions", "each hart reads the sum after so many; 0: nobody reads");
UC_PARAM(duration, think, 0, "ns", "time between two additions");
UC_PARAM(u64, counter_node, 0, "node", "memory node of all parts");

static struct percpu_counter* counter;

void uc_setup(unsigned n) {
  uint64_t bytes = distance;
  if (bytes == 0 || bytes % 8) {
    uc_check(false, "distance must be a multiple of 8 bytes, at least 8");
    bytes = UC_BLOCK;
  }
  counter = percpu_counter_make(n, bytes, (unsigned)counter_node);
}

// Reads the sum. Harts add during this, but never subtract, so the result is between the true sums
// at the beginning and at the end of the read, and is never less than the previous result.
static void read_sum(int64_t* before) {
  int64_t sum = batch ? percpu_counter_total(counter) : percpu_counter_sum(counter);
  uc_check(sum >= *before, "the sum fell, although everybody adds");
  *before = sum;
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  unsigned part = UC_SABOTAGE ? 0 : id;  // sabotage: one part for all, with no atomic to add to it
  int64_t before = 0;
  uint64_t added = 0;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    percpu_counter_add(counter, part, 1, (int64_t)batch);
    if (read_every && ++added % read_every == 0) read_sum(&before);
    uc_op();
    uc_delay(think);
  }
  loop_end();
}

void uc_finish(unsigned n) {
  uc_check((uint64_t)percpu_counter_sum(counter) == uc_total_ops(n), "additions were lost");
}
