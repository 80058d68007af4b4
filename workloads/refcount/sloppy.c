// Sloppy counter: each hart keeps spare references, and mostly uses these.
//
// Boyd-Wickizer et al., "An analysis of Linux scalability to many cores" (2010). The central count
// is the references in use plus all spares. A put keeps the reference as a spare, on the hart's own
// line; a get takes a spare if there is one, else increments the central count. A hart with more
// than `spares` gives half of them back. So a get and put on one hart access no shared line. But
// only the sum shows whether the object is in use: to release it, every hart must give its spares
// back, so it suits objects that are seldom released, such as mount points or network devices.
//
// Check: as in references.h.
#include "references.h"

UC_WORKLOAD("Sloppy reference count: spare references kept by each hart");
UC_PARAM(u64, spares, 8, "references", "most spares a hart keeps");

static struct {
  UC_ALIGNED _Atomic uint64_t references;  // references in use, and spare ones
}* central;

static struct hart {
  UC_ALIGNED uint64_t spare;
}* harts;

static void count_setup(unsigned n) {
  central = uc_alloc(sizeof *central, (unsigned)object_node);
  central->references = n;
  harts = uc_alloc(n * sizeof *harts, 0);
}

static void count_get(unsigned id) {
  if (harts[id].spare > 0)
    harts[id].spare--;
  else
    atomic_fetch_add_explicit(&central->references, 1, memory_order_relaxed);
}

static void give_back(struct hart* hart, uint64_t amount) {
  hart->spare -= amount;
  if (atomic_fetch_sub_explicit(&central->references, amount, memory_order_acq_rel) == amount)
    object_release();
}

static void count_put(unsigned id) {
  struct hart* hart = &harts[id];
  if (++hart->spare > spares) give_back(hart, hart->spare - spares / 2);
}

static void count_tend(unsigned id) { (void)id; }

static bool count_drain(unsigned id) {
  if (harts[id].spare > 0) give_back(&harts[id], harts[id].spare);
  return true;
}

static bool count_is_zero(void) { return central->references == 0; }
