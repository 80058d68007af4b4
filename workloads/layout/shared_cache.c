// Two threads that exchange messages share a second-level cache, or have one each.
//
// Macy (2018): two communicating threads gain from a shared L2 if their working sets are small, and
// lose if these are large. A message stays in the shared cache; but two working sets compete for
// it, and lines that do not fit are fetched again from the next level at each walk. Modules of
// AMD's family 15h, Atom's clusters and Core 2 share an L2 between cores; the hardware threads of
// one core always share its L2.
//
// On fx8300 (modules of two cores with 2 MiB each), with few `lines`, --place 0,1 (one module) is
// faster than 0,2 by the difference of two handoffs. If two working sets exceed the L2 and one does
// not, 0,2 is faster.
//
// Harts 0 and 1, 2 and 3 ... are pairs. In a round each hart writes all lines of its working set,
// writes a message of `message` lines, and reads its partner's. An operation is one hart's round.
//
// Check: a message has the number of its round.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Two threads that talk share a cache or have one each; small or large sets");
UC_PARAM(u64, lines, 64, "lines", "of a thread's own working set, 64 bytes each");
UC_PARAM(u64, message, 4, "lines", "that a thread passes to its partner in each round");

struct line {
  _Alignas(64) volatile uint64_t word;
};

static struct thread {
  UC_ALIGNED struct line* set;
  uint64_t round;
  UC_ALIGNED _Atomic uint64_t written, read;  // number of messages written, and read, so far
  _Atomic bool over;
  struct line* message;
}* threads;

static void walk(struct thread* self) {
  for (uint64_t k = 0; k < lines; k++) self->set[k].word++;
}

// Waits for the partner. Returns false if the partner does no more rounds.
static bool await(struct thread* partner, _Atomic uint64_t* rounds, uint64_t goal) {
  while (!UC_SABOTAGE && atomic_load_explicit(rounds, memory_order_acquire) < goal) {
    if (atomic_load_explicit(&partner->over, memory_order_acquire)) return false;
    uc_pause();
  }
  return true;
}

// Writes the next message, after the reader has read the previous one.
static void message_write(struct thread* self, struct thread* reader) {
  if (!await(reader, &reader->read, self->round)) return;
  for (uint64_t k = 0; k < message; k++) self->message[k].word = self->round + 1;
  atomic_store_explicit(&self->written, self->round + 1, memory_order_release);
}

static void message_read(struct thread* self, struct thread* writer) {
  if (!await(writer, &writer->written, self->round + 1)) return;
  for (uint64_t k = 0; k < message; k++)
    uc_check(writer->message[k].word == self->round + 1, "a message of another round was read");
  atomic_store_explicit(&self->read, self->round + 1, memory_order_release);
}

static void do_round(struct thread* self, struct thread* partner) {
  walk(self);
  message_write(self, partner);
  message_read(self, partner);
  self->round++;
}

void uc_setup(unsigned n) {
  threads = uc_alloc(n * sizeof *threads, 0);
  for (unsigned id = 0; id < n; id++) {
    threads[id].set = uc_alloc(lines * sizeof(struct line), uc_node_of(id));
    threads[id].message = uc_alloc(message * sizeof(struct line), uc_node_of(id));
  }
}

void uc_main(unsigned id, unsigned n) {
  struct thread* self = &threads[id];
  struct thread* partner = &threads[(id ^ 1) < n ? id ^ 1 : id];
  do_round(self, partner);  // fills the caches before the measurement
  for (struct loop loop = loop_begin(); loop_more(&loop);) {
    uc_start();
    do_round(self, partner);
    uc_op();
  }
  atomic_store_explicit(&self->over, true, memory_order_release);
  loop_end();
}
