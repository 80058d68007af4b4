// DragonFly's IPIQ: messages between processors, one at a time, and many with one interrupt.
//
// The FIFO crossbar is in ipiq.h. Two harts send each other bursts of messages in turn. With
// `burst` 1 that is a ping-pong: each message needs an interrupt, about 1.1 microseconds on a
// dual-core Athlon (Dillon 2005). In a longer burst only the first message does; each further one
// costs a read of the next slot of the ring, about 50 ns there. So latency is not throughput.
//
// Check: messages run in the order in which they were sent, each exactly once.
#include "ipiq.h"

#include "pairs.h"
#include "uncore.h"

UC_WORKLOAD("Messages through a software FIFO crossbar, behind one interrupt each or many");
UC_PARAM(u64, rounds, 20, "round trips", "of a burst each way, per pair");
UC_PARAM(u64, burst, 5, "messages", "sent one after the other before the partner answers");
UC_PARAM(duration, work, 0, "ns", "time the function of a message takes");
UC_TABLE(one_way, "ps", "first message of a burst from hart of the row to hart of the column");
UC_TABLE(pipelined, "ps", "each further message, from one function's start to the next one's");

// One hart's counts for the pair that it plays in now.
static struct player {
  UC_ALIGNED _Atomic uint64_t received;  // number of messages
  uint64_t sum_first, sum_last;          // sums of the start times of a burst's first, last message
  UC_ALIGNED uint64_t sum_sent;          // sum of the times at which this hart sent bursts
}* players;

void uc_setup(unsigned n) {
  players = uc_alloc(n * sizeof *players, 0);
  uc_table_make(&one_way, n, n);
  uc_table_make(&pipelined, n, n);
  ipiq_setup(n);
  pairs_setup(n);
  if (!burst) uc_check(false, "burst must be 1 or more");
}

static void receive(void* argument, uint64_t number) {
  uint64_t now = uc_now();
  struct player* self = argument;
  uint64_t received = self->received;
  uc_check(number == received, "a message was lost, overtaken or run twice");
  if (received % burst == 0) self->sum_first += now;
  if (received % burst == burst - 1) self->sum_last += now;
  uc_delay(work);
  atomic_store_explicit(&self->received, received + 1, memory_order_release);
}

static void send_burst(struct player* self, unsigned other, uint64_t round) {
  self->sum_sent += uc_now();
  for (uint64_t i = 0; i < burst; i++)
    ipiq_send(other, receive, &players[other], round * burst + i);
}

static void await_burst(struct player* self, uint64_t round) {
  uint64_t end = (round + 1) * burst;
  while (atomic_load_explicit(&self->received, memory_order_acquire) < end) uc_pause();
}

static void exchange(struct player* self, unsigned other, bool serves) {
  for (uint64_t round = 0; burst && round < rounds; round++) {
    if (serves) send_burst(self, other, round);
    await_burst(self, round);
    if (!serves) send_burst(self, other, round);
  }
}

static void note(unsigned from, unsigned to) {
  struct player* target = &players[to];
  if (!rounds) return;
  *uc_cell(&one_way, from, to) = (target->sum_first - players[from].sum_sent) * 1000 / rounds;
  if (burst > 1)
    *uc_cell(&pipelined, from, to) =
        (target->sum_last - target->sum_first) * 1000 / rounds / (burst - 1);
}

static void reset(struct player* player) {
  player->sum_first = player->sum_last = player->sum_sent = 0;
  atomic_store_explicit(&player->received, 0, memory_order_relaxed);
}

static void play(unsigned first, unsigned second) {
  bool serves = uc_id() == first;
  uc_start();
  exchange(&players[uc_id()], serves ? second : first, serves);
  uc_ops(rounds * burst);
}

static void conclude(unsigned first, unsigned second) {
  note(first, second);
  note(second, first);
  reset(&players[first]);
  reset(&players[second]);
}

void uc_main(unsigned id, unsigned n) {
  ipiq_start();
  uc_barrier();  // no hart sends before all harts can receive
  uc_roi(true);
  pairs_run(id, n, play, conclude);
  uc_roi(false);
}
