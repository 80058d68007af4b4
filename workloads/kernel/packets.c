// Packets under Refcache: a packet's memory is freed only two epochs after its last reference.
//
// Macy (2018): Refcache is unsuitable for objects with a high rate of turnover; a backlog of ten
// milliseconds of network mbufs could be punitive. Each hart receives packets: it takes one from
// its free list, writes its header, takes a second reference for the next hart and passes it on,
// then drops its own. The next hart reads the header and drops the last reference. Under
// `scheme=atomic` that frees the packet, whose lines are still in the two caches, and the same few
// packets are used again and again. Under `scheme=refcache` the count reaches zero at the next
// hart's flush at the earliest, and the packet is freed two epochs later (refcache.h).
//
// The packets that wait are as many as a hart receives in two to three epochs: at a million a
// second and 10 ms, 25,000 mbufs of each hart; the table shows their number. So many do not fit
// into the caches, so each packet begins with misses in memory (`lines`). With atomic counts
// packets only move between two cores: their two transfers for each packet cost less.
//
// An operation is a packet received.
//
// Check: a packet is free when it is taken, not free when it is read, and all come back.
#include "loop.h"
#include "refcache.h"

UC_WORKLOAD("Packets counted by Refcache or atomically: how many wait for their release");
enum scheme { SCHEME_REFCACHE, SCHEME_ATOMIC };
UC_PARAM(choice, scheme, SCHEME_REFCACHE, "refcache|atomic", "how references are counted");
UC_PARAM(u64, lines, 2, "lines", "of a packet that are written and read, beside its count");
UC_PARAM(duration, gap, 500, "ns", "from one packet of a hart to its next");
UC_TABLE(backlog, "packets", "that a hart had to have; one column each");

enum { FREE, IN_USE };

struct packet {
  struct counted counted;                 // first, so that both have the same address
  UC_ALIGNED _Atomic int64_t references;  // scheme=atomic
  uint64_t state, number;
  unsigned owner;
  struct packet* next;
  struct packet_line {
    _Alignas(64) uint64_t word;
  } header[];
};

// A hart. Its `inbox` holds at most one packet from the preceding hart.
static struct hart {
  UC_ALIGNED struct packet* free;  // the hart's own free list
  uint64_t received, made;
  UC_ALIGNED _Atomic(struct packet*) returned;  // a stack of its packets freed by any hart
  UC_ALIGNED _Atomic(struct packet*) inbox;
}* harts;
static struct end {
  UC_ALIGNED _Atomic uint64_t busy;  // harts that have packets to pass or to read
  _Atomic bool reviewed;             // the last packets have been freed
}* end;
static unsigned hart_count;

// ---- Free packets -------------------------------------------------------------------------------

static void packet_free(struct packet* packet) {
  uc_check(packet->state == IN_USE, "a packet was freed twice");
  packet->state = FREE;
  _Atomic(struct packet*)* returned = &harts[packet->owner].returned;
  packet->next = atomic_load_explicit(returned, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(returned, &packet->next, packet,
                                                memory_order_release, memory_order_relaxed))
    continue;
}

static void refcache_release(struct counted* counted) { packet_free((struct packet*)counted); }

static struct packet* packet_make(unsigned id) {
  struct packet* packet =
      uc_alloc(sizeof *packet + lines * sizeof(struct packet_line), uc_node_of(id));
  packet->owner = id;
  harts[id].made++;
  return packet;
}

static struct packet* packet_take(unsigned id) {
  struct hart* self = &harts[id];
  if (!self->free)
    self->free = atomic_exchange_explicit(&self->returned, NULL, memory_order_acquire);
  if (!self->free) return packet_make(id);
  struct packet* packet = self->free;
  self->free = packet->next;
  uc_check(packet->state == FREE, "a packet was taken that is in use");
  return packet;
}

// ---- References ---------------------------------------------------------------------------------

static void packet_count(unsigned id, struct packet* packet, int delta) {
  if (scheme == SCHEME_REFCACHE)
    refcache_change(id, &packet->counted, delta);
  else if (atomic_fetch_add_explicit(&packet->references, delta, memory_order_acq_rel) + delta == 0)
    packet_free(packet);
}

static void tend(unsigned id) {
  if (scheme == SCHEME_REFCACHE) refcache_tend(id);
}

// ---- The way of a packet ------------------------------------------------------------------------

static void read_inbox(unsigned id) {
  struct hart* self = &harts[id];
  struct packet* packet = atomic_load_explicit(&self->inbox, memory_order_acquire);
  if (!packet) return;
  uc_check(packet->state == IN_USE, "a packet was freed before it was read");
  for (uint64_t i = 0; i < lines; i++)
    uc_check(packet->header[i].word == packet->number + i, "a packet was overwritten");
  atomic_store_explicit(&self->inbox, NULL, memory_order_release);
  packet_count(id, packet, -1);
}

static void pass(unsigned id, struct packet* packet) {
  _Atomic(struct packet*)* inbox = &harts[(id + 1) % hart_count].inbox;
  while (atomic_load_explicit(inbox, memory_order_acquire)) {
    read_inbox(id);
    tend(id);
    uc_delay(1);
  }
  atomic_store_explicit(inbox, packet, memory_order_release);
}

static void receive(unsigned id) {
  struct packet* packet = packet_take(id);
  packet->counted.references = packet->references = 1;
  packet->state = IN_USE;
  packet->number = harts[id].received++;
  for (uint64_t i = 0; i < lines; i++) packet->header[i].word = packet->number + i;
  if (!UC_SABOTAGE) packet_count(id, packet, 1);
  pass(id, packet);
  packet_count(id, packet, -1);
}

// ---- Harts --------------------------------------------------------------------------------------

// Reads and flushes until no hart passes packets, and the last ones have been freed.
static void drain(unsigned id) {
  struct hart* self = &harts[id];
  while (atomic_load_explicit(&self->inbox, memory_order_acquire)) read_inbox(id), tend(id);
  atomic_fetch_sub_explicit(&end->busy, 1, memory_order_release);
  while (atomic_load_explicit(&end->busy, memory_order_acquire)) {
    read_inbox(id);
    tend(id);
    uc_delay(gap + 1);
  }
  read_inbox(id);
  if (scheme == SCHEME_ATOMIC) return;
  // All harts stop together, because an epoch ends only when all have flushed.
  uint64_t until = refcache_epoch_now() + 4 * REVIEW_AFTER;
  while (!atomic_load_explicit(&end->reviewed, memory_order_relaxed)) {
    tend(id);
    uc_delay(epoch / 8 + 1);
    if (refcache_epoch_now() >= until)
      atomic_store_explicit(&end->reviewed, true, memory_order_relaxed);
  }
}

void uc_setup(unsigned n) {
  hart_count = n;
  refcache_setup(n);
  harts = uc_alloc(n * sizeof *harts, 0);
  end = uc_alloc(sizeof *end, 0);
  end->busy = n;
  uc_table_make(&backlog, 1, n);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  for (struct loop loop = loop_begin(); loop_more(&loop);) {
    uc_start();
    receive(id);
    uc_op();
    read_inbox(id);
    tend(id);
    uc_delay(gap);
  }
  loop_end();
  drain(id);
  *uc_cell(&backlog, 0, id) = harts[id].made;
}

static uint64_t length(struct packet* first) {
  uint64_t packets = 0;
  for (; first; first = first->next) packets++;
  return packets;
}

void uc_finish(unsigned n) {
  for (unsigned id = 0; id < n; id++)
    uc_check(length(harts[id].free) + length(harts[id].returned) == harts[id].made,
             "packets did not come back");
}
