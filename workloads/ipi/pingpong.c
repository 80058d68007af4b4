// Two harts send each other interprocessor interrupts: measures the time of one IPI, one way.
//
// With an IPI one processor makes another do something: TLB shootdown, wake-up, remote call.
// Kernels have measured its round trip since the first multiprocessor Unix systems. With a clock
// common to all harts each direction is measured separately. The hardware sets the receiver's
// pending bit (RISC-V: MSIP; x86: the local APIC). The receiver is interrupted between two
// instructions, saves its state and enters the handler.
//
// The one-way time runs from just before the sender's store to the first instruction of the
// receiver's C handler. Each hart keeps its times in its own line, and they are compared after the
// pair is done, so no line moves between the harts while an IPI is under way.
//
// Check: every IPI sent was taken, exactly once, and none before it was sent.
#include "pairs.h"
#include "uncore.h"

UC_WORKLOAD("One-way latency of an interprocessor interrupt");
UC_PARAM(u64, rounds, 20, "round trips", "measured round trips per pair");
UC_PARAM(u64, warmup, 2, "round trips", "round trips before them, not measured");
UC_TABLE(one_way, "ps", "IPI from hart of the row to hart of the column");

// One hart's counts for its current pair, on a line of its own; reset while no IPI is under way.
static struct player {
  UC_ALIGNED volatile uint64_t taken;  // number of IPIs taken
  volatile uint64_t sum_taken;         // sum of the times at which measured IPIs were taken, in ns
  uint64_t sum_sent;                   // sum of the times at which this hart sent, in ns
}* players;

void uc_setup(unsigned n) {
  players = uc_alloc(n * sizeof *players, 0);
  uc_table_make(&one_way, n, n);
  pairs_setup(n);
}

static void on_ipi(void) {
  uint64_t now = uc_now();
  struct player* self = &players[uc_id()];
  if (!pairs_playing()) return;
  if (self->taken++ >= warmup) self->sum_taken += now;
}

static void send(struct player* self, unsigned to, bool measured) {
  if (measured) self->sum_sent += uc_now();
  uc_ipi(to);
}

// Does one hart's part of all round trips. The hart that serves sends first.
static void exchange(struct player* self, unsigned other, bool serves) {
  for (uint64_t round = 0; round < warmup + rounds; round++) {
    if (serves) send(self, other, round >= warmup);
    uc_wait();
    uc_check(self->taken == round + 1, "an IPI was lost or taken twice");
    if (!serves) send(self, other, round >= warmup);
  }
}

static void note(unsigned from, unsigned to) {
  uint64_t sent = players[from].sum_sent, taken = players[to].sum_taken;
  uc_check(taken >= sent, "an IPI was taken before it was sent");
  *uc_cell(&one_way, from, to) = rounds ? (taken - sent) * 1000 / rounds : 0;
}

static void reset(struct player* player) {
  player->taken = player->sum_taken = player->sum_sent = 0;
}

static void play(unsigned first, unsigned second) {
  bool serves = uc_id() == first;
  uc_start();
  exchange(&players[uc_id()], serves ? second : first, serves);
  uc_ops(rounds);
}

static void conclude(unsigned first, unsigned second) {
  note(first, second);
  note(second, first);
  reset(&players[first]);
  reset(&players[second]);
}

void uc_main(unsigned id, unsigned n) {
  uc_on_ipi(on_ipi);
  uc_barrier();  // no hart sends before all harts can receive
  uc_roi(true);
  pairs_run(id, n, play, conclude);
  uc_roi(false);
}
