// The common part of the reference-counting workloads, without the count: every hart uses one
// object, which is freed with its last reference.
//
// Each hart owns one reference for the whole run, and gets and puts another one in a loop, using
// the object in between. At the end each hart puts its own, and then the object must be released.
//
// A scheme's file includes this header and defines the functions declared below; it calls
// object_release when its count says that the last reference is gone.
//
// Check: the object is alive whenever a hart with a reference uses it, and is released exactly
// once, after the last put. With UC_WITNESS, the hart that releases it also sees every use by all
// harts, and no hart writes to it later.
#ifndef UNCORE_REFERENCES_H_
#define UNCORE_REFERENCES_H_

#include "loop.h"
#include "uncore.h"

UC_PARAM(duration, hold, 0, "ns", "time between get and put");
UC_PARAM(duration, think, 0, "ns", "time after each put");
UC_PARAM(u64, object_node, 0, "node", "memory node of the object");
UC_TABLE(release, "ns", "from the last put to the release of the object");

static void count_setup(unsigned n);  // gives the object one reference for each hart
static void count_get(unsigned id);   // called by a hart that owns a reference
static void count_put(unsigned id);
static void count_tend(unsigned id);   // called between two operations, instead of by a timer
static bool count_drain(unsigned id);  // called after all puts, repeated until it returns true
static bool count_is_zero(void);

enum state { ALIVE = 0x600d0b1ec7, RELEASED = 0xdead0b1ec7 };

static struct object {
  UC_ALIGNED _Atomic uint64_t state;
  _Atomic uint64_t releases, released_at;
  volatile uint64_t used;  // ALIVE or RELEASED; with UC_WITNESS
}* object;

static struct farewell {
  UC_ALIGNED uint64_t time;  // when this hart did its last put
  volatile uint64_t uses;    // number of its uses; counted only with UC_WITNESS
}* farewells;

static struct witness {
  unsigned harts;
  volatile uint64_t uses;  // number of uses seen by the hart that released the object
} witness;

static void witness_use(unsigned id) {
  object->used = ALIVE;
  farewells[id].uses++;
}

static void witness_release(void) {
  for (unsigned id = 0; id < witness.harts; id++) witness.uses += farewells[id].uses;
  object->used = RELEASED;
}

static void object_release(void) {
  if (UC_WITNESS) witness_release();
  atomic_store_explicit(&object->released_at, uc_now(), memory_order_relaxed);
  atomic_store_explicit(&object->state, RELEASED, memory_order_relaxed);
  atomic_fetch_add_explicit(&object->releases, 1, memory_order_relaxed);
}

static bool alive(void) {
  return atomic_load_explicit(&object->state, memory_order_relaxed) == ALIVE;
}

void uc_setup(unsigned n) {
  object = uc_alloc(sizeof *object, (unsigned)object_node);
  object->state = ALIVE;
  farewells = uc_alloc(n * sizeof *farewells, 0);
  if (UC_WITNESS) witness.harts = n;
  uc_table_make(&release, 1, 1);
  count_setup(n);
}

static void operation(unsigned id) {
  uc_start();
  if (!UC_SABOTAGE) count_get(id);  // sabotage: uses and puts a reference that it did not get
  uc_delay(hold);
  uc_check(alive(), "the object was released while in use");
  if (UC_WITNESS) witness_use(id);
  count_put(id);
  uc_op();
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    operation(id);
    count_tend(id);
    uc_delay(think);
  }
  loop_end();
  uc_barrier();
  uc_check(alive(), "the object was released before its last reference was put");
  uc_barrier();
  if (UC_WITNESS) witness_use(id);
  count_put(id);
  farewells[id].time = uc_now();
  while (!count_drain(id)) uc_pause();
}

void uc_finish(unsigned n) {
  uint64_t last = 0;
  for (unsigned id = 0; id < n; id++)
    if (farewells[id].time > last) last = farewells[id].time;
  *uc_cell(&release, 0, 0) = object->released_at > last ? object->released_at - last : 0;
  if (UC_WITNESS) uc_check(object->used == RELEASED, "the object was written after its release");
  if (UC_WITNESS)
    uc_check(witness.uses == uc_total_ops(n) + n, "uses were not seen at the release");
  uc_check(object->releases == 1, "the object was not released exactly once");
  uc_check(count_is_zero(), "references are left over");
}

#endif  // UNCORE_REFERENCES_H_
