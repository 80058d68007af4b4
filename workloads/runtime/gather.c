// The barrier is a static tree of the harts, each with four children (Mellor-Crummey and Scott,
// 1991). A hart waits for its children, signals its parent, waits until it is released and
// releases its children. Every word has one writer and one reader, which spins on it in its own
// cache. Rounds are numbered, so no word is ever reset.
#include "runtime.h"

#define FAN_IN 4

// A hart's children are the harts from first_child(id) up to, but not including, end_child(id).
static unsigned first_child(unsigned id) { return id * FAN_IN + 1; }

static unsigned end_child(unsigned id) {
  unsigned end = first_child(id) + FAN_IN, harts = uc_hart_count();
  return end < harts ? end : harts;
}

static void wait_until(_Atomic uint64_t* word, uint64_t round) {
  while (atomic_load_explicit(word, memory_order_acquire) != round) uc_pause();
}

// Returns when all harts in this hart's subtree have arrived; on hart 0 when all harts have.
void uc_gather(unsigned id) {
  struct uc_hart* self = &uc_harts[id];
  uint64_t round = ++self->round;
  for (unsigned child = first_child(id); child < end_child(id); child++)
    wait_until(&uc_harts[child].arrived, round);
  atomic_store_explicit(&self->arrived, round, memory_order_release);
}

void uc_barrier(void) {
  unsigned id = uc_id();
  uc_gather(id);
  uint64_t round = uc_harts[id].round;
  if (id) wait_until(&uc_harts[id].released, round);
  for (unsigned child = first_child(id); child < end_child(id); child++)
    atomic_store_explicit(&uc_harts[child].released, round, memory_order_release);
}
