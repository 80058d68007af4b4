// Sending UDP packets: every packet writes five shared lines, which are removed one by one.
//
// Many clients send over one interface (64 netperf streams, FreeBSD 12 during development, 2018).
// Each has its own socket. On its way down the stack every packet uses shared data, in this order:
//
//   inpcb   the connection table's lock, taken shared, to choose and look up the connection
//   iflist  the lock of the list of interface addresses, taken shared, to find the source address
//   ifaddr  a reference to that address, taken and dropped
//   afdata  the lock of the interface's data, taken shared, to find the neighbour's hardware
//           address
//   queue   the lock of a transmit queue; without a flow number in the packet, always the same
//
// `fixes` names the last fix that is applied; each includes the earlier ones. Flow numbers spread
// packets over the queues; epochs replace the list's lock, the reference, afdata's lock and the
// connection table's. Macy (2018) measured 0.59, 1.1, 1.8 to 2.5, 1.9, 2.4 to 2.6 and 4 million
// packets a second with these fixes: to remove one bottleneck may make the next one worse.
//
// Check: every packet is in a queue, and all references are dropped.
#include "calls.h"
#include "epoch.h"
#include "rwlock.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path UDP send: what all packets share, fix after fix");
enum fix { ORIGINAL, FLOWID, IFLIST, IFADDR, AFDATA, INPCB };
UC_PARAM(choice, fixes, ORIGINAL, "original|flowid|iflist|ifaddr|afdata|inpcb",
         "the last fix that is in");
UC_PARAM(u64, queues, 16, "queues", "transmit queues of the interface");
UC_PARAM(u64, work, 4500, "instructions", "private work of one packet");
UC_PARAM(u64, queue_work, 300, "instructions",
         "to enter a packet into a queue, with its lock held");

// An object found by a search under a lock. It is read-mostly, on a line of its own.
static struct guarded {
  UC_ALIGNED struct rwlock lock;
  UC_ALIGNED _Atomic uint64_t found;  // result of the search
} *connections, *addresses, *neighbours;

static struct address {
  UC_ALIGNED _Atomic uint64_t references;
}* address;

static struct queue {
  UC_ALIGNED struct spinlock lock;
  uint64_t packets;
}* transmit;

static struct client {
  UC_ALIGNED uint64_t sent;
}* clients;

static struct epoch* epoch;

#define CONNECTION 1
#define ADDRESS 2
#define NEIGHBOUR 3

static struct guarded* guarded_make(unsigned n, uint64_t found) {
  struct guarded* guarded = uc_alloc(sizeof *guarded, 0);
  rw_init(&guarded->lock, n);
  guarded->found = found;
  return guarded;
}

void uc_setup(unsigned n) {
  uc_require(queues, "an interface has a queue or more");
  connections = guarded_make(n, CONNECTION);
  addresses = guarded_make(n, ADDRESS);
  neighbours = guarded_make(n, NEIGHBOUR);
  address = uc_alloc(sizeof *address, 0);
  transmit = uc_alloc(queues * sizeof *transmit, 0);
  clients = uc_alloc(n * sizeof *clients, 0);
  epoch = epoch_make(n, 0);
}

// Finds an object under its lock or, with the fix `fixed`, in the packet's epoch section.
static uint64_t find(struct guarded* guarded, enum fix fixed) {
  if (fixes < fixed) rw_rlock(&guarded->lock);
  uint64_t found = atomic_load_explicit(&guarded->found, memory_order_acquire);
  if (fixes < fixed) rw_runlock(&guarded->lock);
  return found;
}

static void reference(bool take) {
  if (fixes >= IFADDR) return;
  if (take)
    atomic_fetch_add_explicit(&address->references, 1, memory_order_relaxed);
  else
    atomic_fetch_sub_explicit(&address->references, 1, memory_order_release);
}

static void enqueue(unsigned id) {
  struct queue* queue = &transmit[fixes >= FLOWID ? id % queues : 0];
  if (!UC_SABOTAGE) spin_lock(&queue->lock);
  uint64_t packets = queue->packets;
  uc_work((int64_t)queue_work);
  queue->packets = packets + 1;
  if (!UC_SABOTAGE) spin_unlock(&queue->lock);
}

static void call(unsigned id) {
  uc_work((int64_t)work / 2);
  epoch_enter(epoch, id);
  uint64_t connection = find(connections, INPCB), source = find(addresses, IFLIST);
  reference(true);
  uc_work((int64_t)work / 2);
  uint64_t neighbour = find(neighbours, AFDATA);
  uc_check(connection == CONNECTION && source == ADDRESS && neighbour == NEIGHBOUR, "lost its way");
  reference(false);
  enqueue(id);
  epoch_exit(epoch, id);
  clients[id].sent++;
}

void uc_finish(unsigned n) {
  uint64_t sent = 0, queued = 0;
  for (unsigned id = 0; id < n; id++) sent += clients[id].sent;
  for (uint64_t i = 0; i < queues; i++) queued += transmit[i].packets;
  uc_check(queued == sent, "packets were lost in a queue");
  uc_check(address->references == 0, "references to the address were lost");
}
