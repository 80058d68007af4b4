// One hart interrupts all others and waits until each has answered: the rendezvous of a kernel.
//
// Before a kernel patches code, steps a clock or writes a read-mostly lock (rmlock), every hart
// must have left the code that uses it. The sender interrupts the harts as in broadcast.c: one
// after the other, or with one message if the machine has multicast. Then each hart acknowledges:
// in a line of its own that the sender fetches, or in one counter for which all harts contend
// (`acknowledge`).
//
// Each hart keeps the times at which its handler started; they are compared at the end.
//
// Check: each hart takes each broadcast once, before the next one is sent.
#include "acknowledge.h"
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Interrupt all other harts and wait for their acknowledgements");
UC_PARAM(choice, acknowledge, ACKNOWLEDGE_COUNTER, "counter|words", "one counter, or a word each");
UC_TABLE(taken_after, "ps", "from the sender's start to the handler, mean, one column per hart");

static struct target {
  UC_ALIGNED uint64_t taken;  // number of broadcasts
  uint64_t sum;               // sum of the times at which they were taken, in ns
}* targets;

static struct broadcast {
  UC_ALIGNED _Atomic uint64_t number;  // the current broadcast
  _Atomic bool over;
  UC_ALIGNED const struct uc_cpuset* others;
  uint64_t sum;  // sum of the times at which broadcasts were sent, in ns
}* broadcast;

void uc_setup(unsigned n) {
  targets = uc_alloc(n * sizeof *targets, 0);
  broadcast = uc_alloc(sizeof *broadcast, 0);
  broadcast->others = uc_cpuset_range(1, n - 1);
  acknowledge_setup(n, acknowledge);
  uc_table_make(&taken_after, 1, n);
}

static void on_ipi(void) {
  uint64_t now = uc_now();
  if (atomic_load_explicit(&broadcast->over, memory_order_acquire)) return;
  struct target* self = &targets[uc_id()];
  uint64_t number = atomic_load_explicit(&broadcast->number, memory_order_acquire);
  uc_check(number == ++self->taken, "a broadcast was sent before the last one was acknowledged");
  self->sum += now;
  acknowledge_give(number);
}

static void send_one(unsigned n) {
  uint64_t number = broadcast->number + 1;
  broadcast->sum += uc_now();
  acknowledge_expect(n - 1);
  atomic_store_explicit(&broadcast->number, number, memory_order_release);
  uc_ipi_many(broadcast->others->bits, n);
  if (!UC_SABOTAGE) acknowledge_await(broadcast->others, number);
}

static void send_all(unsigned n) {
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    send_one(n);
    uc_op();
  }
  loop_end();
  atomic_store_explicit(&broadcast->over, true, memory_order_release);
  uc_ipi_many(broadcast->others->bits, n);
}

void uc_main(unsigned id, unsigned n) {
  uc_on_ipi(on_ipi);
  if (id == 0) {
    send_all(n);
    return;
  }
  loop_attend();
  while (!atomic_load_explicit(&broadcast->over, memory_order_acquire)) uc_wait();
  loop_end();
}

void uc_finish(unsigned n) {
  uint64_t sent = broadcast->number;
  for (unsigned hart = 1; hart < n; hart++) {
    uc_check(targets[hart].taken == sent, "a hart missed a broadcast");
    if (sent) *uc_cell(&taken_after, 0, hart) = (targets[hart].sum - broadcast->sum) * 1000 / sent;
  }
}
