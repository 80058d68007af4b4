// Harts 0 and 1 send each other IPIs, while all other harts stream uncached lines from one memory
// node. The program shows how a saturated link delays interrupts.
//
// Every streaming hart always has a load and a store under way. Check: every IPI is taken once.
#include "uncore.h"

UC_WORKLOAD("One-way latency of IPIs beside harts that stream from one memory node");
UC_PARAM(u64, rounds, 20, "round trips", "measured");
UC_PARAM(u64, warmup, 5, "round trips", "before them");
UC_PARAM(bool, load, true, "", "whether the other harts stream");
UC_PARAM(u64, from, 0, "node", "memory node the others stream from");
UC_TABLE(one_way, "ps", "mean from hart 0 to hart 1, and back");

#define REGION (1ul << 20)  // bytes a hart may stream through

static struct player {
  UC_ALIGNED volatile uint64_t taken;
  volatile uint64_t sum_taken;
  uint64_t sum_sent;
} players[2];

static struct {
  UC_ALIGNED _Atomic uint64_t done;
} end;

static char* lines;

void uc_setup(unsigned n) {
  lines = uc_alloc(n * REGION, (unsigned)from);
  uc_table_make(&one_way, 1, 2);
}

static void on_ipi(void) {
  uint64_t now = uc_now();
  struct player* self = &players[uc_id()];
  if (self->taken++ >= warmup) self->sum_taken += now;
}

static void send(unsigned id, bool measured) {
  if (measured) players[id].sum_sent += uc_now();
  uc_ipi(!id);
}

static void exchange(unsigned id) {
  for (uint64_t round = 0; round < warmup + rounds; round++) {
    if (id == 0) send(id, round >= warmup);
    uc_wait();
    uc_check(players[id].taken == round + 1, "an IPI was lost or taken twice");
    if (id == 1) send(id, round >= warmup);
  }
}

static void stream(unsigned id) {
  volatile uint64_t* line = (volatile uint64_t*)(lines + id * REGION);
  for (uint64_t i = 0; i < REGION / 128 && !atomic_load_explicit(&end.done, memory_order_relaxed);
       i++, line += 16) {
    line[0] = i;
    (void)line[8];
  }
}

void uc_main(unsigned id, unsigned n) {
  uc_on_ipi(on_ipi);
  uc_barrier();
  uc_roi(true);
  if (id < 2) {
    exchange(id);
    if (id == 0) atomic_store(&end.done, 1);
  } else if (load) {
    stream(id);
  }
  uc_op();
  uc_roi(false);
  (void)n;
}

void uc_finish(unsigned n) {
  (void)n;
  for (unsigned id = 0; id < 2; id++)
    *uc_cell(&one_way, 0, id) = (players[!id].sum_taken - players[id].sum_sent) * 1000 / rounds;
}
