// The common part of the reclamation workloads, without the scheme: readers use an object while an
// updater replaces and frees it.
//
// Hart 0 updates, the others read. The updater publishes a new object and retires the previous one.
// It reuses an object only after the scheme has freed it, which marks the object. There are few
// objects, so an updater that is faster than the grace period has to wait for it.
//
// A scheme's file includes this header and defines the five functions declared below.
//
// Check: an object is live when a reader gets it, and still in the same life when the reader puts
// it; everything retired is freed in the end. With UC_WITNESS readers also write to their objects,
// and no such write may become visible after the object was freed.
#ifndef UNCORE_RECLAIM_H_
#define UNCORE_RECLAIM_H_

#include "deferred.h"
#include "loop.h"
#include "uncore.h"

UC_PARAM(duration, hold, 0, "ns", "time a reader uses its object");
UC_PARAM(duration, think, 0, "ns", "time between two reads");
UC_PARAM(u64, updates, 50, "updates", "objects the updater publishes, unless a duration is given");
UC_PARAM(duration, period, 0, "ns", "time between two updates");
UC_PARAM(u64, objects, 16, "objects", "in all; when all wait to be freed, the updater waits too");
UC_TABLE(grace, "ns", "time from retirement to freeing, one column per update");

#define FREED 0

struct object {
  UC_ALIGNED _Atomic uint64_t life;     // FREED, or the number of the update that published it
  volatile uint64_t used;               // with UC_WITNESS: the life in which a reader wrote last
  UC_ALIGNED struct deferred deferred;  // from here on, fields of the updater
  struct object* next;                  // the next free object
  uint64_t published, retired_at;
};

static _Atomic(struct object*)* current;

static struct updater {
  struct object* free;
  uint64_t published, freed;  // numbers of objects
}* updater;

// The scheme. For readers, `reader_get` loads `current` so that the object stays until
// `reader_put`. For the updater, `retire` schedules object_free for when no reader can have the
// object any more; `poll` calls it for objects that are due, and with `wait` waits until one is.
static void scheme_setup(unsigned n);
static struct object* reader_get(unsigned reader);
static void reader_put(unsigned reader);
static void retire(struct deferred* deferred);
static void poll(bool wait);

static inline struct object* object_of(struct deferred* deferred) {
  return (struct object*)((char*)deferred - offsetof(struct object, deferred));
}

static void witness_free(struct object* object) {
  bool mine = object->used == FREED || object->used == object->published;
  uc_check(mine, "a reader wrote to an object of another life");
  object->used = FREED;
}

static void object_free(struct deferred* deferred) {
  struct object* object = object_of(deferred);
  atomic_store_explicit(&object->life, FREED, memory_order_relaxed);
  if (UC_WITNESS) witness_free(object);
  if (object->published <= grace.cols)
    *uc_cell(&grace, 0, object->published - 1) = uc_now() - object->retired_at;
  object->next = updater->free;
  updater->free = object;
  updater->freed++;
}

static struct object* publish(void) {
  struct object* object = updater->free;
  updater->free = object->next;
  if (UC_WITNESS) uc_check(object->used == FREED, "a reader wrote to an object that was freed");
  object->published = ++updater->published;
  atomic_store_explicit(&object->life, object->published, memory_order_relaxed);
  return atomic_exchange(current, object);
}

void uc_setup(unsigned n) {
  current = uc_alloc(sizeof *current, 0);
  updater = uc_alloc(sizeof *updater, 0);
  if (objects < 2) uc_check(false, "objects must be 2 or more: one in use, one to publish");
  for (uint64_t i = 0; i < objects || i < 2; i++) {
    struct object* object = uc_alloc(sizeof *object, 0);
    object->next = updater->free;
    updater->free = object;
  }
  uc_table_make(&grace, 1, updates);
  publish();
  scheme_setup(n);
}

// ---- Readers ------------------------------------------------------------------------------------

static uint64_t life(struct object* object) {
  return atomic_load_explicit(&object->life, memory_order_relaxed);
}

static void read_once(unsigned reader) {
  uc_start();
  struct object* object = reader_get(reader);
  uint64_t found = life(object);
  uc_check(found != FREED, "a reader was given a freed object");
  uc_delay(hold);
  if (UC_WITNESS) object->used = found;
  uc_check(life(object) == found, "an object was freed while a reader used it");
  reader_put(reader);
  uc_op();
}

static void read_loop(unsigned reader, struct loop loop) {
  while (loop_more(&loop)) {
    read_once(reader);
    uc_delay(think);
  }
}

// ---- The updater --------------------------------------------------------------------------------

static void update(void) {
  uc_start();
  while (!updater->free) poll(true);
  struct object* before = publish();
  before->retired_at = uc_now();
  retire(&before->deferred);
  poll(false);
  uc_op();
}

static void update_loop(void) {
  for (struct loop loop = loop_of(updates, 1); loop_more(&loop);) {
    update();
    uc_delay(period);
  }
}

static void free_the_rest(void) {
  while (updater->freed + 1 < updater->published) poll(true);
}

// Runs the updater or a reader on this hart, in workloads whose readers are not threads.
static inline void reclaim_run(unsigned id) {
  struct loop loop = loop_begin();
  if (id == 0)
    update_loop();
  else
    read_loop(id, loop);
  loop_end();
  if (id == 0) free_the_rest();
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(updater->freed + 1 == updater->published, "retired objects were never freed");
}

#endif  // UNCORE_RECLAIM_H_
