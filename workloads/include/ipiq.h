// DragonFly's IPIQ: a software crossbar of FIFOs, one from each hart to each other hart, and IPIs
// that tell the target that a FIFO is not empty.
//
// Dillon (2003; measured 2005). A message is a function with two arguments, which the target runs
// in its interrupt handler. Only the sender writes a FIFO's `written`, and only the target its
// `read`, so the FIFO needs no lock and no atomic operation. An IPI is sent only if none is under
// way for the FIFO, so a burst of messages costs one interrupt. A passive message causes no IPI; it
// is run when the target polls by itself, at its clock tick or at its next interrupt.
//
// The layout of the FIFOs in memory has changed since then (`crossbar`; see DragonFly's
// sys/thread.h and kern/lwkt_ipiq.c):
//
//   2005  as Dillon measured: a FIFO's counts, functions and arguments are packed without padding,
//         and a target reads the FIFOs of all other harts
//   2010  counts and messages have lines of their own, and a mask names the harts that have sent
//
//     ipiq_setup(n)                  in uc_setup
//     ipiq_start()                   by each hart, before other harts send to it
//     ipiq_send, ipiq_send_passive   to another hart; messages between two harts stay in order
//     ipiq_poll()                    runs what has been sent to this hart
#ifndef UNCORE_IPIQ_H_
#define UNCORE_IPIQ_H_

#include "uncore.h"

enum crossbar { CROSSBAR_2010, CROSSBAR_2005 };
UC_PARAM(choice, crossbar, CROSSBAR_2010, "2010|2005",
         "messages between harts lie in memory as in DragonFly of that year");

#define IPIQ_SLOTS 32
#define IPIQ_SLOTS_2005 16

struct ipiq_message {
  void (*function)(void* first, uint64_t second);
  void* first;
  uint64_t second;
  uint64_t unused;  // pads a message to half a line
};

struct ipiq {
  UC_ALIGNED _Atomic uint64_t written;  // number of messages since the start
  UC_ALIGNED _Atomic uint64_t read;
  _Atomic unsigned told;  // 1: an IPI is under way for this queue
  UC_ALIGNED struct ipiq_message ring[IPIQ_SLOTS];
};

// A FIFO from one hart to another as of 2005, where nothing is aligned to lines.
struct ipiq_2005 {
  _Atomic unsigned read, done, written;  // numbers of messages since the start
  void (*function[IPIQ_SLOTS_2005])(void* first, uint64_t second);
  void* first[IPIQ_SLOTS_2005];
  uint64_t second[IPIQ_SLOTS_2005];
  _Atomic unsigned told;
};

// The inbox of one hart: a bit for each hart that has sent, and the queues by sender, which are
// made when they are first used.
struct ipiq_inbox {
  UC_ALIGNED _Atomic uint64_t senders[UC_MAX_HARTS / 64];
  UC_ALIGNED _Atomic(struct ipiq*) queues[];
};

static struct ipiq_crossbar {
  UC_ALIGNED unsigned harts;
  uint64_t inbox_size;
  char* inboxes;
  struct ipiq_2005** outboxes;  // outboxes[sender][target]
}* ipiq_crossbar;

static inline struct ipiq_inbox* ipiq_inbox(unsigned hart) {
  return (struct ipiq_inbox*)(ipiq_crossbar->inboxes + hart * ipiq_crossbar->inbox_size);
}

static inline void ipiq_setup(unsigned n) {
  ipiq_crossbar = uc_alloc(sizeof *ipiq_crossbar, 0);
  ipiq_crossbar->harts = n;
  if (crossbar == CROSSBAR_2005) {
    ipiq_crossbar->outboxes = uc_alloc(n * sizeof(struct ipiq_2005*), 0);
    for (unsigned sender = 0; sender < n; sender++)
      ipiq_crossbar->outboxes[sender] = uc_alloc(n * sizeof(struct ipiq_2005), uc_node_of(sender));
    return;
  }
  ipiq_crossbar->inbox_size =
      (sizeof(struct ipiq_inbox) + n * sizeof(struct ipiq*) + UC_BLOCK - 1) & -UC_BLOCK;
  ipiq_crossbar->inboxes = uc_alloc(n * ipiq_crossbar->inbox_size, 0);
}

// ---- The target ---------------------------------------------------------------------------------

static inline void ipiq_drain(struct ipiq* queue) {
  atomic_store_explicit(&queue->told, 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);  // a sender whose message is not seen sends an IPI
  // `read` is loaded each time, because a message's function that sends may reenter this loop.
  for (uint64_t read; (read = atomic_load_explicit(&queue->read, memory_order_relaxed)) !=
                      atomic_load_explicit(&queue->written, memory_order_acquire);) {
    struct ipiq_message message = queue->ring[read % IPIQ_SLOTS];
    atomic_store_explicit(&queue->read, read + 1, memory_order_release);
    message.function(message.first, message.second);
  }
}

// Returns false if messages came meanwhile, for which no IPI was sent; the caller must call again.
static inline bool ipiq_drain_2005(struct ipiq_2005* queue) {
  unsigned written = atomic_load_explicit(&queue->written, memory_order_acquire);
  // `read` may pass `written`, because a message's function that sends may reenter this loop.
  for (unsigned read;
       (int)(written - (read = atomic_load_explicit(&queue->read, memory_order_relaxed))) > 0;) {
    unsigned slot = read % IPIQ_SLOTS_2005;
    void (*function)(void*, uint64_t) = queue->function[slot];
    void* first = queue->first[slot];
    uint64_t second = queue->second[slot];
    atomic_store_explicit(&queue->read, read + 1, memory_order_release);
    function(first, second);
    atomic_store_explicit(&queue->done, atomic_load_explicit(&queue->read, memory_order_relaxed),
                          memory_order_release);
  }
  atomic_store_explicit(&queue->told, 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  return written == atomic_load_explicit(&queue->written, memory_order_acquire);
}

static inline void ipiq_process_2005(void) {
  unsigned self = uc_id();
  for (unsigned sender = 0; sender < ipiq_crossbar->harts; sender++)
    while (sender != self && !ipiq_drain_2005(&ipiq_crossbar->outboxes[sender][self])) {
    }
}

// Runs all messages for this hart. Called with interrupts off.
static inline void ipiq_process(void) {
  if (crossbar == CROSSBAR_2005) {
    ipiq_process_2005();
    return;
  }
  struct ipiq_inbox* inbox = ipiq_inbox(uc_id());
  for (unsigned word = 0; word * 64 < ipiq_crossbar->harts; word++) {
    if (!atomic_load_explicit(&inbox->senders[word], memory_order_relaxed)) continue;
    uint64_t bits = atomic_exchange_explicit(&inbox->senders[word], 0, memory_order_acquire);
    for (; bits; bits &= bits - 1) {
      unsigned sender = word * 64 + (unsigned)__builtin_ctzl(bits);
      ipiq_drain(atomic_load_explicit(&inbox->queues[sender], memory_order_acquire));
    }
  }
}

static inline void ipiq_poll(void) {
  bool interrupts = uc_interrupts_off();
  ipiq_process();
  uc_interrupts_restore(interrupts);
}

static inline void ipiq_start(void) { uc_on_ipi(ipiq_process); }

// ---- The sender ---------------------------------------------------------------------------------

static inline struct ipiq* ipiq_queue(struct ipiq_inbox* inbox, unsigned sender) {
  struct ipiq* queue = atomic_load_explicit(&inbox->queues[sender], memory_order_relaxed);
  if (!queue) {
    queue = uc_alloc(sizeof *queue, 0);
    atomic_store_explicit(&inbox->queues[sender], queue, memory_order_release);
  }
  return queue;
}

static inline uint64_t ipiq_length(struct ipiq* queue) {
  return atomic_load_explicit(&queue->written, memory_order_relaxed) -
         atomic_load_explicit(&queue->read, memory_order_acquire);
}

// Waits for room. Runs its own messages meanwhile, else two senders with full FIFOs would deadlock.
static inline void ipiq_await_room(struct ipiq* queue) {
  if (UC_SABOTAGE) return;  // sabotage: overwrites what has not been read
  while (ipiq_length(queue) >= IPIQ_SLOTS) {
    ipiq_process();
    uc_pause();
  }
}

static inline unsigned ipiq_length_2005(struct ipiq_2005* queue) {
  return atomic_load_explicit(&queue->written, memory_order_relaxed) -
         atomic_load_explicit(&queue->read, memory_order_acquire);
}

static inline void ipiq_tell_2005(struct ipiq_2005* queue, unsigned target) {
  if (!(atomic_fetch_or_explicit(&queue->told, 1, memory_order_seq_cst) & 1)) uc_ipi(target);
}

// When a FIFO is half full, interrupts the target, even for a passive message, and waits for room.
static inline void ipiq_await_room_2005(struct ipiq_2005* queue, unsigned target) {
  if (UC_SABOTAGE || ipiq_length_2005(queue) <= IPIQ_SLOTS_2005 / 2) return;
  ipiq_tell_2005(queue, target);
  while (ipiq_length_2005(queue) > IPIQ_SLOTS_2005 / 4) {
    ipiq_process();
    uc_pause();
  }
}

static inline void ipiq_post_2005(unsigned target, void (*function)(void*, uint64_t), void* first,
                                  uint64_t second, bool passive) {
  bool interrupts = uc_interrupts_off();
  struct ipiq_2005* queue = &ipiq_crossbar->outboxes[uc_id()][target];
  ipiq_await_room_2005(queue, target);
  unsigned written = atomic_load_explicit(&queue->written, memory_order_relaxed);
  unsigned slot = written % IPIQ_SLOTS_2005;
  queue->function[slot] = function;
  queue->first[slot] = first;
  queue->second[slot] = second;
  atomic_store_explicit(&queue->written, written + 1, memory_order_release);
  if (!passive) ipiq_tell_2005(queue, target);
  uc_interrupts_restore(interrupts);
}

static inline void ipiq_post(unsigned target, void (*function)(void*, uint64_t), void* first,
                             uint64_t second, bool passive) {
  if (crossbar == CROSSBAR_2005) {
    ipiq_post_2005(target, function, first, second, passive);
    return;
  }
  bool interrupts = uc_interrupts_off();
  struct ipiq_inbox* inbox = ipiq_inbox(target);
  unsigned self = uc_id();
  struct ipiq* queue = ipiq_queue(inbox, self);
  ipiq_await_room(queue);
  uint64_t written = atomic_load_explicit(&queue->written, memory_order_relaxed);
  queue->ring[written % IPIQ_SLOTS] =
      (struct ipiq_message){.function = function, .first = first, .second = second};
  atomic_store_explicit(&queue->written, written + 1, memory_order_release);
  atomic_thread_fence(
      memory_order_seq_cst);  // otherwise target and sender could each miss the other's store
  _Atomic uint64_t* senders = &inbox->senders[self / 64];
  if (!(atomic_load_explicit(senders, memory_order_relaxed) >> self % 64 & 1))
    atomic_fetch_or_explicit(senders, 1ul << self % 64, memory_order_release);
  // If the queue fills up, interrupts the target even for a passive message.
  bool tell = !passive || (!UC_SABOTAGE && ipiq_length(queue) > IPIQ_SLOTS / 2);
  if (tell && !atomic_exchange_explicit(&queue->told, 1, memory_order_seq_cst)) uc_ipi(target);
  uc_interrupts_restore(interrupts);
}

static inline void ipiq_send(unsigned target, void (*function)(void*, uint64_t), void* first,
                             uint64_t second) {
  ipiq_post(target, function, first, second, false);
}

static inline void ipiq_send_passive(unsigned target, void (*function)(void*, uint64_t),
                                     void* first, uint64_t second) {
  ipiq_post(target, function, first, second, true);
}

#endif  // UNCORE_IPIQ_H_
