// Each field is on a line of its own, as if false sharing were the problem.
#include "calls.h"
#include "mcs.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Busy fields of a locked structure on few lines or on many");
UC_PARAM(u64, lines, 6, "lines", "on which the lock and the six busy fields lie, 1 to 6");
UC_PARAM(u64, work, 100, "instructions", "private work between two updates");
enum guard { MCS, SPIN, ATOMIC };
UC_PARAM(choice, guard, MCS, "mcs|spin|atomic", "a lock, or an atomic addition to each field");
UC_PARAM(u64, structure_node, 0, "node", "memory node of the structure");

#define FIELDS 6
#define LINE_WORDS (64 / sizeof(uint64_t))

static struct structure {
  UC_ALIGNED struct spinlock lock;
  uint32_t unused;
  struct mcs_lock queue;
  _Atomic uint64_t words[FIELDS * LINE_WORDS];
}* structure;

static struct mcs_node* nodes;
static _Atomic uint64_t* fields[FIELDS];

void uc_setup(unsigned n) {
  uc_require(lines >= 1 && lines <= FIELDS, "lines must be from 1 to 6");
  structure = uc_alloc(sizeof *structure, (unsigned)structure_node);
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)structure_node);
  for (uint64_t k = 0; k < FIELDS; k++)
    fields[k] = &structure->words[k * lines / FIELDS * LINE_WORDS + k];
}

static void update(void) {
  uint64_t before = atomic_load_explicit(fields[0], memory_order_relaxed);
  for (unsigned k = 0; k < FIELDS; k++) {
    uint64_t field = atomic_load_explicit(fields[k], memory_order_relaxed);
    uc_check(field == before, "an update was seen half done");
    atomic_store_explicit(fields[k], field + 1, memory_order_relaxed);
  }
}

static void update_atomically(void) {
  for (unsigned k = 0; k < FIELDS; k++)
    atomic_fetch_add_explicit(fields[k], 1, memory_order_relaxed);
}

static void lock(unsigned id) {
  if (guard == SPIN)
    spin_lock(&structure->lock);
  else
    mcs_acquire(&structure->queue, &nodes[id]);
}

static void unlock(unsigned id) {
  if (guard == SPIN)
    spin_unlock(&structure->lock);
  else
    mcs_release(&structure->queue, &nodes[id]);
}

static void call(unsigned id) {
  uc_work((int64_t)work);
  if (guard == ATOMIC) {
    update_atomically();
    return;
  }
  if (!UC_SABOTAGE) lock(id);
  update();
  if (!UC_SABOTAGE) unlock(id);
}

void uc_finish(unsigned n) {
  for (unsigned k = 0; k < FIELDS; k++)
    uc_check(*fields[k] == uc_total_ops(n) + n * first_calls, "updates were lost");
}
