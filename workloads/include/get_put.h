// A reference count that every hart increments (get) and decrements (put), with some time after
// each. Nothing is guarded and nothing is freed, so harts share only the line of the count.
// refcount/atomic.c is the same with a real object.
//
// A scheme's file includes this header and defines the two functions declared below.
//
// Check: the count is above zero after each get, and zero after all puts.
#ifndef UNCORE_GET_PUT_H_
#define UNCORE_GET_PUT_H_

#include "turns.h"
#include "uncore.h"

UC_PARAM(u64, count_node, 0, "node", "memory node of the count");

struct count {
  UC_ALIGNED _Atomic uint32_t references;
  _Atomic uint32_t writer;  // add_swap's lock: the hart that has it as a writer, plus 1; else 0
};

static uint32_t count_get(struct count* count);  // returns the new count
static void count_put(struct count* count);

static struct count* count;

void uc_setup(unsigned n) {
  (void)n;
  count = uc_alloc(sizeof *count, (unsigned)count_node);
}

UC_SPECIALISED void turns_one(void* shared, unsigned id, bool usual) {
  (void)id;
  uc_check(count_get(shared) > 0, "a reference was got, and the count is zero");
  turns_pass(hold, usual);
  if (!UC_SABOTAGE) count_put(shared);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  turns(count, id, true);
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(count->references == 0, "references are left over");
}

#endif  // UNCORE_GET_PUT_H_
