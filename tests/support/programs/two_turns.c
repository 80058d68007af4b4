// Operations that take the same lock twice, with much work of their own before each turn.
#include "loop.h"
#include "ticket.h"
#include "uncore.h"

UC_WORKLOAD("Two turns at a lock in an operation, far apart");
UC_PARAM(u64, work, 20000, "instructions", "before each turn");

static struct ticket_lock* lock;
static volatile uint64_t* turns;

void uc_setup(unsigned n) {
  (void)n;
  lock = uc_alloc(sizeof *lock, 0);
  turns = uc_alloc(sizeof *turns, 0);
}

__attribute__((noinline)) static void turn(void) {
  uc_work((int64_t)work);
  ticket_acquire(lock);
  *turns = *turns + 1;
  ticket_release(lock);
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    turn();
    turn();
    uc_op();
  }
  loop_end();
}
