// Each hart has a count of its own; a reader of the total adds them up.
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
  UC_ALIGNED _Atomic(struct call*) queue;
  UC_ALIGNED uint64_t served;
  uint64_t interrupts;
  struct call call;
}** harts;

static struct descriptor {
  UC_ALIGNED void (*_Atomic action)(struct hart*);
  _Atomic uint64_t count;
  void (*_Atomic end)(struct hart*);
}** descriptors;

static void serve(struct hart* self) {
  struct call* call = atomic_exchange_explicit(&self->queue, NULL, memory_order_acquire);
  if (!call) return;
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
  self->interrupts++;
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
  uc_barrier();
}

void uc_finish(unsigned n) {
  uint64_t served = 0;
  for (unsigned id = 0; id < n; id++) served += harts[id]->served;
  uc_check(served == uc_total_ops(n), "a call ran twice or never");
}
