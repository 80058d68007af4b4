// RCU by quiescent states: readers only report now and then that they hold no object.
//
// McKenney and Slingwine, "Read-copy update" (1998), after DYNIX/ptx; this is the variant whose
// quiescent states the readers report themselves (QSBR, Desnoyers et al. 2012). Entering and
// leaving a section takes no instruction. Grace periods are numbered. A hart that passes a
// quiescent state (in a kernel, a context switch) copies the current number to a line of its own.
// When all harts have, no reader can see objects retired before that number was issued. Reading is
// as cheap as possible, but a grace period lasts until the slowest hart passes a quiescent state
// (`quiescent_every`). One grace period may serve many objects (`batch`).
//
// Check: as in reclaim.h.
#include "reclaim.h"

UC_WORKLOAD("RCU with quiescent states: free readers, grace periods as long as their slowest");
UC_PARAM(u64, quiescent_every, 10, "reads", "a reader passes a quiescent state after so many");
UC_PARAM(u64, batch, 4, "objects", "retired objects that share a grace period");

#define OFFLINE 0  // an extended quiescent state, as of a CPU that is idle or in user mode

static struct reader {
  UC_ALIGNED _Atomic uint64_t seen;  // number of the last grace period seen, or OFFLINE
  uint64_t reads;                    // reads since then
}* readers;
static unsigned harts;

static _Atomic uint64_t* period_number;

static struct limbo {
  struct deferred_list waiting;
  uint64_t length;
}* limbo;

static void scheme_setup(unsigned n) {
  readers = uc_alloc(n * sizeof *readers, 0);
  period_number = uc_alloc(sizeof *period_number, 0);
  limbo = uc_alloc(sizeof *limbo, 0);
  *period_number = 1;
  harts = n;
}

// ---- Readers ------------------------------------------------------------------------------------

static void quiescent_state(struct reader* self) {
  uint64_t number = atomic_load_explicit(period_number, memory_order_acquire);
  atomic_store_explicit(&self->seen, number, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);  // the report is visible before any further read
  self->reads = 0;
}

static void offline(struct reader* self) {
  atomic_store_explicit(&self->seen, OFFLINE, memory_order_release);
}

static struct object* reader_get(unsigned reader) {
  (void)reader;
  return atomic_load_explicit(current, memory_order_acquire);
}

static void reader_put(unsigned reader) {
  if (++readers[reader].reads >= quiescent_every) quiescent_state(&readers[reader]);
}

// ---- The updater --------------------------------------------------------------------------------

static bool lags(unsigned hart, uint64_t number) {
  uint64_t seen = atomic_load_explicit(&readers[hart].seen, memory_order_acquire);
  return seen != OFFLINE && seen < number;
}

static void synchronize(void) {
  if (UC_SABOTAGE) return;  // sabotage: frees at once what readers may still hold
  uint64_t number = atomic_load_explicit(period_number, memory_order_relaxed) + 1;
  atomic_store(period_number, number);
  atomic_thread_fence(memory_order_seq_cst);
  for (unsigned hart = 0; hart < harts; hart++)
    while (lags(hart, number)) uc_pause();
}

static void retire(struct deferred* deferred) {
  deferred_append(&limbo->waiting, deferred);
  limbo->length++;
}

static void poll(bool wait) {
  if (!wait && limbo->length < batch) return;
  synchronize();
  for (struct deferred* old; (old = deferred_take(&limbo->waiting)); limbo->length--)
    object_free(old);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  if (id) quiescent_state(&readers[id]);  // online
  reclaim_run(id);
  offline(&readers[id]);
}
