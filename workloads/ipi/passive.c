// Passive messages request work from another processor that is not urgent, without an interrupt.
//
// The model is DragonFly's lwkt_send_ipiq_passive (Dillon 2005). Work that need not be done soon,
// such as giving memory back to its owner, is put into the FIFO (ipiq.h). The target runs it at its
// next tick, or when an interrupt arrives for another reason. This saves the sender the interrupt,
// and the target its entry and exit. The price is latency, up to a `tick`.
//
// Every hart sends to the next one; `send=active` interrupts it for comparison.
//
// Check: all messages run, in the order in which they were sent, each exactly once.
#include "ipiq.h"
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Messages that interrupt nobody: run at the target's next tick");
enum send { SEND_PASSIVE, SEND_ACTIVE };
UC_PARAM(choice, send, SEND_PASSIVE, "passive|active",
         "wait for the target's tick, or interrupt it");
UC_PARAM(duration, tick, 10000, "ns", "a hart looks at its messages so often");
UC_PARAM(duration, think, 200, "ns", "time between two messages");
UC_PARAM(u64, burst, 1, "messages", "sent at a time");
UC_TABLE(waited, "ns", "mean time from sending to running, one column per receiving hart");

static struct hart {
  UC_ALIGNED uint64_t received, waited;  // messages, and the sum of their latencies in ns
  UC_ALIGNED uint64_t sent, next_tick;
  UC_ALIGNED _Atomic uint64_t sent_plus_one;  // messages sent to this hart, plus 1; 0: not final
}* harts;

void uc_setup(unsigned n) {
  harts = uc_alloc(n * sizeof *harts, 0);
  uc_table_make(&waited, 1, n);
  ipiq_setup(n);
}

static void receive(void* time, uint64_t number) {
  struct hart* self = &harts[uc_id()];
  uc_check(number == self->received, "a message was lost, overtaken or run twice");
  self->waited += uc_now() - (uint64_t)time;
  self->received++;
}

static void send_burst(struct hart* self, unsigned target) {
  for (uint64_t i = 0; i < burst; i++)
    ipiq_post(target, receive, (void*)uc_now(), self->sent++, send == SEND_PASSIVE);
}

static void tick_when_due(struct hart* self) {
  if (uc_now() < self->next_tick) return;
  self->next_tick = uc_now() + tick;
  ipiq_poll();
}

static bool complete(struct hart* self) {
  uint64_t sent_plus_one = atomic_load_explicit(&self->sent_plus_one, memory_order_acquire);
  return sent_plus_one && self->received >= sent_plus_one - 1;
}

void uc_main(unsigned id, unsigned n) {
  struct hart* self = &harts[id];
  unsigned target = (id + 1) % n;
  ipiq_start();
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    send_burst(self, target);
    uc_op();
    tick_when_due(self);
    uc_delay(think);
  }
  loop_end();
  atomic_store_explicit(&harts[target].sent_plus_one, self->sent + 1, memory_order_release);
  while (!complete(self)) {
    ipiq_poll();
    uc_delay(tick);
  }
  *uc_cell(&waited, 0, id) = self->received ? self->waited / self->received : 0;
}
