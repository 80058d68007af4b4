// Each hart performs two operations, each of which reads another line of its own. The transaction
// log shows which of them were delayed at random, and by how much.
#include "uncore.h"

UC_WORKLOAD("Harts that begin an operation, one after the other");
UC_PARAM(u64, start, 1000000, "ns", "time at which the first hart begins; later than any start-up");
UC_PARAM(u64, apart, 100000, "ns", "time from one hart's beginning to the next one's");
UC_PARAM(u64, opens, 0, "0|1", "whether the region of interest is opened first");
UC_PARAM(u64, ipi, 0, "ns",
         "time after its beginning at which the first hart is interrupted; 0: never");

static struct place {
  UC_ALIGNED volatile uint64_t word;
}* places;

void uc_setup(unsigned n) { places = uc_alloc(2 * n * sizeof *places, 0); }

void uc_main(unsigned id, unsigned n) {
  (void)n;
  if (ipi && id == 1) {
    uc_delay(start + ipi - uc_now());
    uc_ipi(0);
  }
  uc_delay(start + id * apart - uc_now());
  if (opens) UC_MARK(UC_MARK_ROI_ON, 0);
  for (unsigned i = 0; i < 2; i++) {
    uc_start();
    (void)places[2 * id + i].word;
    uc_op();
  }
}
