// One hart interrupts all others at once: TLB shootdown, membarrier, stop-machine.
//
// If the sender sends one IPI after the other, the last hart is interrupted after a time that
// grows with the number of harts. With multicast interrupts (x86: cluster mode of the x2APIC;
// Arm: target lists of the GIC's SGIs) one message reaches a group of harts, and the time is
// that of the message to the farthest hart and of its handler's entry. Two settings of a
// machine decide: `--with interrupt.multicast=yes` and `interrupt.harts_per_message=16` (0: all
// harts).
//
// The measured time runs from just before the send to the first instruction of a receiver's
// handler. Each hart keeps its times in its own line; they are compared after the round.
//
// Check: every hart but the sender takes each broadcast, exactly once, and none before it was sent.
#include "uncore.h"

UC_WORKLOAD("Interrupting all other harts at once");
UC_PARAM(u64, rounds, 20, "broadcasts", "measured broadcasts");
UC_PARAM(u64, warmup, 2, "broadcasts", "broadcasts before them, not measured");
UC_TABLE(reached, "ps", "time until the first and until the last hart had it, mean");

static struct player {
  UC_ALIGNED volatile uint64_t taken;  // number of IPIs taken
  volatile uint64_t at;                // time of the last one, in ns
}* players;

static struct sender {
  UC_ALIGNED uint64_t others[UC_MAX_HARTS / 64];
  uint64_t first, last;  // sums over the measured rounds
}* sender;

void uc_setup(unsigned n) {
  players = uc_alloc(n * sizeof *players, 0);
  sender = uc_alloc(sizeof *sender, 0);
  for (unsigned hart = 1; hart < n; hart++) sender->others[hart / 64] |= 1ul << hart % 64;
  uc_table_make(&reached, 1, 2);
}

static void on_ipi(void) {
  uint64_t now = uc_now();
  struct player* self = &players[uc_id()];
  self->at = now;
  self->taken++;
}

static void note(uint64_t sent, unsigned n) {
  uint64_t first = UINT64_MAX, last = 0;
  for (unsigned hart = 1; hart < n; hart++) {
    uint64_t at = players[hart].at;
    uc_check(at >= sent, "an IPI was taken before it was sent");
    if (at < first) first = at;
    if (at > last) last = at;
  }
  sender->first += first - sent;
  sender->last += last - sent;
}

static void broadcast(unsigned n, bool measured) {
  if (measured) uc_start();
  uint64_t sent = uc_now();
  uc_ipi_many(sender->others, n);
  uc_barrier();
  if (!measured) return;
  uc_op();
  note(sent, n);
}

void uc_main(unsigned id, unsigned n) {
  uc_on_ipi(on_ipi);
  uc_barrier();
  uc_roi(true);
  for (uint64_t round = 0; n > 1 && round < warmup + rounds; round++) {
    if (id == 0) {
      broadcast(n, round >= warmup);
    } else {
      if (!UC_SABOTAGE) uc_wait();
      uc_check(players[id].taken == round + 1, "an IPI was lost or taken twice");
      uc_barrier();
    }
    uc_barrier();
  }
  uc_roi(false);
}

void uc_finish(unsigned n) {
  if (n == 1) return;
  *uc_cell(&reached, 0, 0) = rounds ? sender->first * 1000 / rounds : 0;
  *uc_cell(&reached, 0, 1) = rounds ? sender->last * 1000 / rounds : 0;
}
