// A network interrupt finds one frame, or several frames that share the interrupt.
//
// Dillon (2005) measured 2.5 us for an interrupt that finds one frame, and 1.26 us per frame for
// one that finds six, both without the protocol's work. Interrupt moderation and polling help for
// the same reason. `look` is the fixed cost of an interrupt or a poll: Dillon's poll without frames
// took 300 ns. With `protocol=other` the frames go to a protocol thread's processor through its
// FIFO (ipiq.h), and the two processors work in parallel, as in Dillon's pipelined TCP.
//
// The last hart stands for the network card: it writes `frames` frames, as a card writes memory,
// and interrupts hart 0, which takes them from the ring. The next frames come `gap` after the last
// one was taken. `ops` counts interrupts, but the operations of the result are frames taken.
//
// With `by=poll` nobody interrupts hart 0: it looks again and again. "Similar results from
// polling", says Dillon: a frame costs the same, and only the signal's way to the CPU is saved. A
// poll that finds nothing takes `look` and a read of the ring, which is in the cache. Dillon's
// 300 ns contain a read of the card's register over PCI: no simulated device has registers, so it
// is stated, not computed.
//
// On two harts the card and the protocol share hart 1, which is what Dillon's machine of two CPUs
// needs: frames of the protocol interrupt the card's part. The stages still overlap, because a
// burst is in the ring before the driver begins: CPU 0 takes frames while CPU 1 processes those
// before them. `busy` shows both sums beside the time from the first frame taken to the last one
// processed, which is less than their sum. Dillon's trace shows no common clock, so it has no
// figure for this.
//
// Check: each frame is processed once, in order, with the content that the card wrote.
#include "ipiq.h"
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Network interrupt with one frame or several, and the protocol here or next door");
enum protocol { PROTOCOL_NONE, PROTOCOL_OTHER };
enum by { BY_INTERRUPT, BY_POLL };
UC_PARAM(u64, frames, 1, "frames", "behind one interrupt, 64 at most");
UC_PARAM(choice, protocol, PROTOCOL_NONE, "none|other", "pass frames on to hart 1");
UC_PARAM(choice, by, BY_INTERRUPT, "interrupt|poll", "how hart 0 learns of frames");
UC_PARAM(u64, lines, 2, "lines", "of each frame that are read");
UC_PARAM(duration, look, 0, "ns", "what the handler takes beside frames: looking at the card");
UC_PARAM(duration, driver, 300, "ns", "private work of the interrupt handler for a frame");
UC_PARAM(duration, stack, 900, "ns", "private work of the protocol for a frame");
UC_PARAM(duration, gap, 2000, "ns", "from the last frame taken to the next interrupt");
UC_TABLE(interrupt, "ps",
         "mean: from the card's signal to the handler, the handler in all, per frame");

UC_TABLE(polled, "ps", "mean of a poll that found nothing");
UC_TABLE(
    busy, "ps",
    "mean of a burst: the driver, the protocol, from the first frame taken to the last processed");

#define SLOTS 64

struct frame {
  UC_ALIGNED struct line {
    _Alignas(64) uint64_t word;
  } lines[];
};

static struct ring {
  UC_ALIGNED _Atomic uint64_t filled;  // number of frames filled by the card
  uint64_t signalled_at, signals;
  _Atomic bool over;
  UC_ALIGNED _Atomic uint64_t taken;      // number of frames taken by the driver
  uint64_t entered, handled;              // sums of ns: from signal to handler; in the handler
  uint64_t begun_at;                      // time at which the driver began with the last burst
  uint64_t empty_polls, polled;           // number of polls without frames; sum of their ns
  UC_ALIGNED _Atomic uint64_t processed;  // number of frames processed by the protocol
  uint64_t protocol_busy, bursts;         // sum of ns; sum of ns of whole bursts
}* ring;

static char* frame_memory;
static uint64_t frame_size;

static struct frame* frame_of(uint64_t number) {
  return (struct frame*)(frame_memory + number % SLOTS * frame_size);
}

void uc_setup(unsigned n) {
  frame_size = (lines * sizeof(struct line) + UC_BLOCK - 1) & -UC_BLOCK;
  frame_memory = uc_alloc(SLOTS * frame_size, 0);
  ring = uc_alloc(sizeof *ring, 0);
  uc_table_make(&interrupt, 1, 3);
  uc_table_make(&polled, 1, 1);
  uc_table_make(&busy, 1, 3);
  ipiq_setup(n);
  if (frames < 1 || frames > SLOTS) uc_check(false, "frames must be 1 to 64");
}

// ---- Hart 1: the protocol -----------------------------------------------------------------------

static void process(uint64_t number) {
  uint64_t processed = atomic_load_explicit(&ring->processed, memory_order_relaxed);
  uc_check(number == processed, "a frame was lost, overtaken or processed twice");
  struct frame* frame = frame_of(number);
  for (uint64_t i = 0; i < lines; i++)
    uc_check(frame->lines[i].word == number + i, "a frame was overwritten before its time");
  atomic_store_explicit(&ring->processed, processed + 1, memory_order_release);
}

static void protocol_input(void* unused, uint64_t number) {
  (void)unused;
  uint64_t begin = uc_now();
  uc_delay(stack);
  process(number);
  uint64_t end = uc_now();
  ring->protocol_busy += end - begin;
  if (number % frames == frames - 1) ring->bursts += end - ring->begun_at;
}

// ---- Hart 0: the driver's interrupt handler -----------------------------------------------------

static void take_frame(uint64_t number, unsigned next_door) {
  uc_start();
  uc_delay(driver);
  if (protocol == PROTOCOL_OTHER && next_door)
    ipiq_send(next_door, protocol_input, NULL, number);
  else
    process(number);
  uc_op();
}

static void on_card(void) {
  uint64_t begin = uc_now();
  uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
  uint64_t filled = atomic_load_explicit(&ring->filled, memory_order_acquire);
  if (taken == filled) return;
  ring->begun_at = begin;
  ring->entered += begin - ring->signalled_at;
  uc_delay(look);
  // Takes all frames, because interrupts merge.
  for (; taken < filled; taken = UC_SABOTAGE ? filled : taken + 1)
    take_frame(taken, ipiq_crossbar->harts > 1);
  ring->handled += uc_now() - begin;
  atomic_store_explicit(&ring->taken, taken, memory_order_release);
}

static void poll_card(void) {
  uint64_t begin = uc_now();
  uint64_t filled = atomic_load_explicit(&ring->filled, memory_order_acquire);
  if (filled != atomic_load_explicit(&ring->taken, memory_order_relaxed)) {
    on_card();
    return;
  }
  uc_delay(look);
  ring->polled += uc_now() - begin;
  ring->empty_polls++;
}

// ---- The card -----------------------------------------------------------------------------------

static void await(_Atomic uint64_t* count, uint64_t goal) {
  while (atomic_load_explicit(count, memory_order_acquire) < goal) uc_pause();
}

static void signal_frames(uint64_t first) {
  for (uint64_t number = first; number < first + frames; number++)
    for (uint64_t i = 0; i < lines; i++) frame_of(number)->lines[i].word = number + i;
  ring->signalled_at = uc_now();
  ring->signals++;
  atomic_store_explicit(&ring->filled, first + frames, memory_order_release);
  if (by == BY_INTERRUPT) uc_ipi(0);
}

// Plays the card, which reuses a slot only after the driver has taken its frame and the protocol
// has processed it.
static void be_card(struct loop loop) {
  uint64_t first = 0;
  for (; loop_more(&loop); first += frames) {
    signal_frames(first);
    await(&ring->taken, first + frames);
    uint64_t reused = first + 2 * frames;
    if (!UC_SABOTAGE && reused > SLOTS) await(&ring->processed, reused - SLOTS);
    uc_delay(gap);
  }
  if (!UC_SABOTAGE) await(&ring->processed, first);
}

static void end_run(unsigned n) {
  atomic_store_explicit(&ring->over, true, memory_order_release);
  for (unsigned hart = 0; hart < 2 && hart < n; hart++) uc_ipi(hart);
}

void uc_main(unsigned id, unsigned n) {
  if (id == 0)
    uc_on_ipi(on_card);
  else
    ipiq_start();
  struct loop loop = loop_begin();
  if (id == n - 1) {
    be_card(loop);
    end_run(n);
  } else if (id < 2) {
    while (!atomic_load_explicit(&ring->over, memory_order_acquire))
      id == 0 && by == BY_POLL ? poll_card() : uc_wait();
  }
  loop_end();
}

void uc_finish(unsigned n) {
  (void)n;
  if (!ring->signals) return;
  *uc_cell(&interrupt, 0, 0) = ring->entered * 1000 / ring->signals;
  *uc_cell(&interrupt, 0, 1) = ring->handled * 1000 / ring->signals;
  *uc_cell(&interrupt, 0, 2) = ring->handled * 1000 / ring->signals / frames;
  if (ring->empty_polls) *uc_cell(&polled, 0, 0) = ring->polled * 1000 / ring->empty_polls;
  *uc_cell(&busy, 0, 0) = ring->handled * 1000 / ring->signals;
  *uc_cell(&busy, 0, 1) = ring->protocol_busy * 1000 / ring->signals;
  *uc_cell(&busy, 0, 2) = ring->bursts * 1000 / ring->signals;
}
