// Linux's percpu-ref: a part for each hart while the object lives, an atomic count when it dies.
//
// Overstreet (2013; described by Corbet, "Per-CPU reference counts"). As long as the initial
// reference is held the count cannot reach zero, so its value is not needed: gets and puts change
// the hart's own part, without atomics. To kill the count, the initial holder switches the mode to
// atomic, waits until every hart has seen that (RCU), and adds up the parts. From then on it is one
// atomic word, which may reach zero. A large bias keeps it from zero before the parts are added. It
// is as cheap as a count can be if the object dies soon after the kill; if it lives on, the count
// is as slow as refcount/atomic.c.
//
// Hart 0 kills the count after `kill_after` operations, while all harts get and put. A hart passes
// a quiescent state between two operations, as the kernel does at a context switch.
//
// Check: as in references.h; and no part changes after the kill is confirmed.
#include "references.h"

UC_WORKLOAD("Linux percpu-ref: a part per hart, until the kill turns it into an atomic");
UC_PARAM(u64, kill_after, 50, "operations", "of hart 0, after which it kills the count");

#define BIAS (1ul << 63)

static struct ref {
  UC_ALIGNED _Atomic uint64_t atomic;  // modulo 2^64; includes BIAS until the parts are added
  UC_ALIGNED _Atomic uint64_t dying;   // nonzero: atomic mode; read by all harts, written once
  bool confirmed;                      // the parts have been added; only hart 0 uses it
  uint64_t added;                      // the sum of the parts when they were added
}* ref;

static struct hart {
  UC_ALIGNED _Atomic uint64_t part;
  _Atomic uint64_t seen;  // value of `dying` at this hart's last quiescent state
  uint64_t operations;
}* harts;
static unsigned count;  // number of harts; read-only

// Each hart's part has a reference. The initial one, which the kill drops, is in `atomic`.
static void count_setup(unsigned n) {
  ref = uc_alloc(sizeof *ref, (unsigned)object_node);
  harts = uc_alloc(n * sizeof *harts, 0);
  for (unsigned id = 0; id < n; id++) harts[id].part = 1;
  ref->atomic = BIAS + 1;
  count = n;
}

// Changes a part without an atomic, because only the hart itself changes it.
static void add_to_part(unsigned id, uint64_t amount) {
  uint64_t part = atomic_load_explicit(&harts[id].part, memory_order_relaxed);
  atomic_store_explicit(&harts[id].part, part + amount, memory_order_relaxed);
}

static void put_atomic(void) {
  if (atomic_fetch_sub_explicit(&ref->atomic, 1, memory_order_acq_rel) == 1) object_release();
}

static bool dying(void) { return atomic_load_explicit(&ref->dying, memory_order_acquire); }

static void count_get(unsigned id) {
  if (dying())
    atomic_fetch_add_explicit(&ref->atomic, 1, memory_order_relaxed);
  else
    add_to_part(id, 1);
}

static void count_put(unsigned id) {
  if (dying())
    put_atomic();
  else
    add_to_part(id, -1ul);
}

// ---- The kill -----------------------------------------------------------------------------------

static uint64_t sum_of_parts(void) {
  uint64_t sum = 0;
  for (unsigned id = 0; id < count; id++)
    sum += atomic_load_explicit(&harts[id].part, memory_order_relaxed);
  return sum;
}

static void kill(void) { atomic_store_explicit(&ref->dying, 1, memory_order_release); }

static bool everybody_has_seen(void) {
  for (unsigned id = 0; id < count; id++)
    if (!atomic_load_explicit(&harts[id].seen, memory_order_acquire)) return false;
  return true;
}

static void confirm(void) {
  ref->confirmed = true;
  ref->added = sum_of_parts();
  atomic_fetch_add_explicit(&ref->atomic, ref->added - BIAS, memory_order_acq_rel);
  put_atomic();  // drops the initial reference
}

static void quiescent_state(unsigned id) {
  if (!atomic_load_explicit(&harts[id].seen, memory_order_relaxed) && dying())
    atomic_store_explicit(&harts[id].seen, 1, memory_order_release);
}

static void count_tend(unsigned id) {
  quiescent_state(id);
  if (id != 0) return;
  if (harts[0].operations++ == kill_after) kill();
  if (dying() && !ref->confirmed && everybody_has_seen()) confirm();
}

static bool count_drain(unsigned id) {
  if (id == 0 && !dying()) kill();
  quiescent_state(id);
  if (id == 0 && !ref->confirmed && everybody_has_seen()) confirm();
  return id == 0 ? ref->confirmed : atomic_load_explicit(&harts[id].seen, memory_order_relaxed);
}

static bool count_is_zero(void) {
  uc_check(sum_of_parts() == ref->added, "a part changed after everybody had seen the kill");
  return ref->atomic == 0;
}
