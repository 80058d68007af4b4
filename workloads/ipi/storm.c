// All harts interrupt their neighbours at once: measures the cost of shared interrupt bookkeeping.
//
// The kernel counts every interrupt in that interrupt's descriptor. If all processors' IPIs have
// one descriptor, each handler in the machine writes the same line; with a descriptor for each
// memory node the line stays inside its chip. Linux made this change on POWER (Le Goater 2021: from
// 10 to 33 million IPIs a second on two chips, from 4.7 to 46 on four). It was measured with
// ipistorm, which this file follows: each processor calls a function on the next one, waits for it,
// sleeps a moment, and begins again.
//
// A call is Linux's smp_call_function_single. The caller puts its call, a line of its own, into the
// target's queue and sends the interrupt; the target takes the call and releases the caller.
//
// Check: a caller continues only after its call has run, and every call runs once.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("All harts interrupt their neighbours, and count it in one line or several");
enum descriptors { DESCRIPTORS_ONE, DESCRIPTORS_NODE };
UC_PARAM(choice, descriptor, DESCRIPTORS_ONE, "one|node",
         "where an interrupt is counted: for the system, or for the memory node");
UC_PARAM(u64, offset, 1, "harts", "to the hart that is called");
UC_PARAM(u64, work, 5000, "instructions", "between two calls");

struct call {
  UC_ALIGNED _Atomic bool pending;
};

static struct hart {
  UC_ALIGNED _Atomic(struct call*) queue;  // calls by others to this hart: at most one
  UC_ALIGNED uint64_t served;
  struct call call;  // the call from this hart to another
}** harts;           // each on its hart's memory node

// Fields of an interrupt that Linux reads and writes each time it is taken (kernel/irq,
// handle_percpu_irq and note_interrupt): the action, a count that detects unhandled interrupts, and
// the function that ends it. The count is not atomic: a lost increment does no harm.
static struct descriptor {
  UC_ALIGNED void (*_Atomic action)(struct hart*);
  _Atomic uint64_t count;
  void (*_Atomic end)(struct hart*);
}** descriptors;  // one on each node; with `descriptor=one` the first serves all harts

static void serve(struct hart* self) {
  struct call* call = atomic_exchange_explicit(&self->queue, NULL, memory_order_acquire);
  if (!call) return;  // an interrupt without a call
  self->served++;
  atomic_store_explicit(&call->pending, false, memory_order_release);
}

static void nothing(struct hart* self) { (void)self; }

void uc_setup(unsigned n) {
  harts = uc_alloc(n * sizeof *harts, 0);
  for (unsigned id = 0; id < n; id++) harts[id] = uc_alloc(sizeof **harts, uc_node_of(id));
  descriptors = uc_alloc(uc_nodes() * sizeof *descriptors, 0);
  for (unsigned node = 0; node < uc_nodes(); node++) {
    descriptors[node] = uc_alloc(sizeof **descriptors, node);
    atomic_init(&descriptors[node]->action, serve);
    atomic_init(&descriptors[node]->end, nothing);
  }
}

static void on_ipi(void) {
  struct hart* self = harts[uc_id()];
  struct descriptor* one = descriptors[descriptor == DESCRIPTORS_NODE ? uc_node_of(uc_id()) : 0];
  atomic_load_explicit(&one->action, memory_order_relaxed)(self);
  uint64_t count = atomic_load_explicit(&one->count, memory_order_relaxed);
  atomic_store_explicit(&one->count, count + 1, memory_order_relaxed);
  atomic_load_explicit(&one->end, memory_order_relaxed)(self);
}

static void call(struct call* self, unsigned target) {
  atomic_store_explicit(&self->pending, true, memory_order_relaxed);
  atomic_store_explicit(&harts[target]->queue, self, memory_order_release);
  uc_ipi(target);
  if (UC_SABOTAGE) return;
  while (atomic_load_explicit(&self->pending, memory_order_acquire)) uc_pause();
}

void uc_main(unsigned id, unsigned n) {
  uc_on_ipi(on_ipi);
  struct hart* self = harts[id];
  unsigned target = (id + offset) % n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_work(work);
    uc_start();
    call(&self->call, target);
    uc_op();
    uc_check(!atomic_load_explicit(&self->call.pending, memory_order_relaxed),
             "the caller went on before its call had run");
  }
  loop_end();
  uc_barrier();  // a hart that ends early must still serve calls
}

void uc_finish(unsigned n) {
  uint64_t served = 0;
  for (unsigned id = 0; id < n; id++) served += harts[id]->served;
  uc_check(served == uc_total_ops(n), "a call ran twice or never");
}
