// A queue between two harts: one writes items into a ring, the other takes them out.
//
// Lamport's queue (1983) needs no lock: only the writer advances `head`, only the reader `tail`, on
// separate lines. Its cost is the lines that move: those of the items, and that of the other side's
// index when a hart reads it. With `cached` each side has a copy of that index, and reads the index
// again only when the ring seems full or empty (FastForward; Rigtorp's SPSCQueue).
//
// `stream` sends items as fast as the ring takes them. `echo` sends one at a time, and it comes
// back through a second ring: an operation is a round trip. Harts beyond the second do nothing.
//
// Check: items come out in order, none twice.
#include "uncore.h"

UC_WORKLOAD("Queue of one writer and one reader: items a second, or a round trip over two");
enum { STREAM, ECHO };
UC_PARAM(choice, by, STREAM, "stream|echo", "items one way; or each there and back");
UC_PARAM(u64, items, 200, "items", "sent by the first hart");
UC_PARAM(u64, slots, 256, "items", "of a ring");
UC_PARAM(bool, cached, 0, "", "look at the other's index only when one has to");
UC_PARAM(u64, queue_node, 0, "node", "memory node of the rings");

static struct ring {
  UC_ALIGNED _Atomic uint64_t head;  // written by the writer
  UC_ALIGNED _Atomic uint64_t tail;  // written by the reader
  UC_ALIGNED uint64_t tail_seen;     // the writer's copy of `tail`
  UC_ALIGNED uint64_t head_seen;     // the reader's copy of `head`
  UC_ALIGNED uint32_t* slot;
}* rings;

void uc_setup(unsigned n) {
  (void)n;
  rings = uc_alloc(2 * sizeof *rings, (unsigned)queue_node);
  for (unsigned i = 0; i < 2; i++)
    rings[i].slot = uc_alloc(slots * sizeof *rings[i].slot, (unsigned)queue_node);
}

static inline uint64_t after(uint64_t index) { return index + 1 == slots ? 0 : index + 1; }

static inline uint64_t at(_Atomic uint64_t* index) {
  return atomic_load_explicit(index, memory_order_acquire);
}

// Waits until *index differs from `stuck`. If `cached`, loads *index only if *seen equals `stuck`.
static void await(_Atomic uint64_t* index, uint64_t* seen, uint64_t stuck) {
  if (UC_SABOTAGE || (cached && *seen != stuck)) return;
  uint64_t now;
  do now = at(index);
  while (now == stuck);
  if (cached) *seen = now;
}

static void put(struct ring* ring, uint32_t item) {
  uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), next = after(head);
  if (UC_SABOTAGE) uc_delay(50);  // sabotage: the item comes late, and the reader does not wait
  await(&ring->tail, &ring->tail_seen, next);
  ring->slot[head] = item;
  atomic_store_explicit(&ring->head, next, memory_order_release);
}

static uint32_t take(struct ring* ring) {
  uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  await(&ring->head, &ring->head_seen, tail);
  uint32_t item = ring->slot[tail];
  atomic_store_explicit(&ring->tail, after(tail), memory_order_release);
  return item;
}

static void send(void) {
  for (uint32_t i = 1; i <= items; i++) {
    put(&rings[0], i);
    if (by == ECHO) uc_check(take(&rings[1]) == i, "another item came back");
  }
}

static void receive(void) {
  for (uint32_t i = 1; i <= items; i++) {
    uint32_t item = take(&rings[0]);
    uc_check(item == i, "an item is missing, or came twice");
    if (by == ECHO) put(&rings[1], item);
  }
}

void uc_main(unsigned id, unsigned n) {
  uc_barrier();
  if (n < 2 || id > 1) return;
  uc_roi(true);
  if (id == 0)
    send();
  else
    receive();
  if (id == 1) uc_ops(items);
  uc_roi(false);
}
