// A reference count: get and put on one object, and the last put frees it.
//
// Reference counting is Collins's (1960). On a multiprocessor the count is one atomic word in the
// object, so taking a reference, an act that changes nothing for anybody else, moves the object's
// line to the taker: readers of a busy object scale no better than writers. Every get and every put
// is one ownership transfer; Linux's struct file, dentry and page counts all met this wall.
//
// Each hart owns one reference for the whole run, and gets and puts another in a loop, using the
// object in between. At the end each puts its own; the last of these puts frees.
//
// Check: the object is alive whenever a hart that holds a reference looks, and is freed exactly
// once.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Reference count of one object: get, use, put by every hart");
UC_PARAM(duration, hold, 0, "ns", "time between get and put");
UC_PARAM(duration, think, 0, "ns", "time after each put");
UC_PARAM(u64, object_node, 0, "node", "memory node of the object");

enum state { ALIVE = 0x600d0b1ec7, FREED = 0xdead0b1ec7 };

static struct object {
  UC_ALIGNED _Atomic uint64_t references;
  _Atomic uint64_t state;
}* object;
static _Atomic uint64_t times_freed;

void uc_setup(unsigned n) {
  object = uc_alloc(sizeof *object, (unsigned)object_node);
  object->references = n;
  object->state = ALIVE;
}

static void get(void) {
  if (UC_SABOTAGE) return;  // used and put without having been got: the count runs out too early
  uint64_t before = atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
  uc_check(before > 0, "a reference was taken to an object without any");
}

static void put(void) {
  if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_release) != 1) return;
  atomic_thread_fence(memory_order_acquire);
  atomic_store_explicit(&object->state, FREED, memory_order_relaxed);
  atomic_fetch_add_explicit(&times_freed, 1, memory_order_relaxed);
}

static bool alive(void) {
  return atomic_load_explicit(&object->state, memory_order_relaxed) == ALIVE;
}

static void operation(void) {
  uc_start();
  get();
  uc_delay(hold);
  uc_check(alive(), "the object was freed while in use");
  put();
  uc_op();
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    operation();
    uc_delay(think);
  }
  loop_end();
  uc_barrier();
  uc_check(alive(), "the object was freed before its last reference was put");
  uc_barrier();
  put();
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(times_freed == 1, "the object was not freed exactly once");
  uc_check(object->references == 0, "references are left over");
}
