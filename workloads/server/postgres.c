// The backends of PostgreSQL, one for each client, that execute the queries of `pgbench -S`: find a
// row of one table by its primary key. All its memory is in the database's shared buffers.
//
// A query, as far as backends share anything:
//
//   locks     of the table and of its index, which all queries have in common, and of the backend's
//             own transaction (lock.c). `relations` and `transactions`:
//               shared  up to 9.1: an entry in the table of locks, whose 16 partitions have a
//                       lightweight lock each; taking an entry, and giving up all entries of a
//                       partition, each take its lock exclusively. Two relations use two partitions
//               own     since 9.2: noted in the backend's own entry, under a lock of its own, if
//                       nobody wants a strong lock (fast path; R. Haas, 2011)
//   messages  whether another backend has changed a catalogue (sinvaladt.c), at the start and
//             with each lock of a relation. `messages=lock`, up to 9.1: under a shared lightweight
//             lock; `flag`: each backend has a flag
//   snapshots two for a query: with a shared lock of the array of processes, a backend reads the
//             transaction of each other backend, and publishes the oldest one that it needs; at the
//             query's end it takes this back (procarray.c). Others then miss. `entries`:
//               process  up to 9.1: in the process's own structure, a line each
//               packed   since 9.2: 12 bytes each, five in a line that several backends write
//               aligned  a line each, as Freund proposed for 9.6
//   pages     the index's root, one inner page, a leaf and the row's page: find the buffer with a
//             shared lock of one of `partitions` (16 up to 9.4, then 128), pin it, lock its
//             contents for readers, and both back (bufmgr.c). All use the root. `pins`:
//               spin    up to 9.5: with the spin lock of the buffer's header; the lock of the
//                       contents is in the array of lightweight locks
//               atomic  since 9.6: by compare-and-swap, and that lock is in the header
//
// lwlock.h says how a lightweight lock is taken (`lwlock`). The defaults are those of 9.1. There
// the partitions of the two relations are taken exclusively four times a query, and throughput ends
// where they are always busy; with more backends it falls, because waiters sleep, and those that
// spin for a busy spin lock take naps of a millisecond. With 9.2's locks, readers' spin locks of
// the root page, of its partition and of the array of processes come next; with 9.5's and 9.6's
// only lines that many backends write are left, and throughput rises until each change of such a
// line waits for the last.
//
// `work` is the rest of a query: the client, the kernel, parsing, planning. A backend whose query
// is done lets others run, as it waits for its client. Not modelled: the kernel's own locks (lseek,
// the sockets). Queries that write (`writes`) get a transaction number and take the array's lock
// exclusively at their end; `pgbench -S` has none.
//
// Check: a snapshot has each transaction as running or as completed, and not both; locks exclude
// each other; at the end nothing is locked or pinned.
#include "loop.h"
#include "lwlock.h"
#include "uncore.h"

UC_WORKLOAD("Backends of PostgreSQL that look up rows: locks, snapshots and pins");
UC_PARAM(u64, clients, 0, "backends", "however many harts there are; 0: one for each hart");
enum home { IN_SHARED, IN_OWN };
UC_PARAM(choice, relations, IN_SHARED, "shared|own", "where a lock of a relation is noted");
UC_PARAM(choice, transactions, IN_SHARED, "shared|own", "where a lock of a transaction is noted");
enum messages { MESSAGES_LOCK, MESSAGES_FLAG };
UC_PARAM(choice, messages, MESSAGES_LOCK, "lock|flag", "how a backend sees that it has messages");
enum entries { ENTRIES_PROCESS, ENTRIES_PACKED, ENTRIES_ALIGNED };
UC_PARAM(choice, entries, ENTRIES_PROCESS, "process|packed|aligned",
         "where a backend's transaction is");
enum pins { PINS_SPIN, PINS_ATOMIC };
UC_PARAM(choice, pins, PINS_SPIN, "spin|atomic", "how a buffer is pinned");
UC_PARAM(u64, partitions, 16, "partitions", "of the table of buffers");
UC_PARAM(u64, pages, 4096, "pages", "leaves of the index, and as many of the table");
UC_PARAM(u64, writes, 0, "percent", "queries that write");
UC_PARAM(duration, work, 100000, "ns", "private work of a query");

#define LOCK_PARTITIONS 16
#define STRONG_LOCKS 1024
#define BUCKETS 4096     // buckets of the table of holdings
#define INNER_PAGES 290  // pages below the root, for 30 million rows
#define SNAPSHOTS 2      // of a query
#define WORK_PARTS 8     // between which a query meets others
#define LOCK_WORK 300    // instructions: an entry is found or made in the table of locks
#define LOOK_WORK 100    // the same, of a buffer in the table of buffers
#define PAGE_WORK 400    // a binary search in a page
#define XACT_BYTES 12
#define RELATIONS 2

// Places in the array of lightweight locks, as in 9.1.
enum {
  LOCK_XID_GEN = 3,
  LOCK_PROC_ARRAY = 4,
  LOCK_SINVAL_READ = 5,
  FIRST_PARTITION = 32,
};

struct xact {
  _Atomic uint32_t xid;   // 0: none
  _Atomic uint32_t xmin;  // 0: none
  uint32_t flags;
};

static struct backend {
  struct waiter waiter;
  UC_ALIGNED struct xact xact;  // entries=process
  uint32_t transaction;         // its own number of the present transaction
  UC_ALIGNED _Atomic uint32_t has_messages;
  uint32_t slots[16];  // relations=own: relations that it has locked
  uint32_t own_transaction;
  UC_ALIGNED uint64_t random;
  uint64_t writes, id;
}* backends;

static uint64_t backend_count, share;  // share: queries of a backend, if their number is given
static char *lwlocks, *xacts;
static uint64_t xact_stride;

// An entry of the table of locks (LOCK), and one of the table of who holds what (PROCLOCK). They
// change with the lock of the entry's partition held.
static struct lock_entry {
  UC_ALIGNED uint64_t granted, requests;
  struct holding *first, *last;
}* lock_entries;
static struct holding {
  UC_ALIGNED struct holding* chain;  // in its bucket, or in the list of free ones
  struct backend* backend;
  uint64_t entry;
  struct holding *next, *before;  // neighbours in the list of the same lock
}** holding_buckets;

// The list of free holdings is one for all partitions, with a spin lock (dynahash.c).
static struct free_holdings {
  UC_ALIGNED struct spinlock mutex;
  struct holding* first;
  uint64_t used;
}* free_holdings;

static struct partition {
  const volatile void* inside;
}* lock_partitions;
static const uint32_t* strong_locks;

static struct buffer {
  UC_ALIGNED struct spinlock header;  // pins=spin
  uint32_t usage, references;         // pins=spin
  _Atomic uint64_t state;             // pins=atomic: pins below, uses above
  struct lwlock contents;             // pins=atomic
}* buffers;
static uint64_t buffer_count;
static struct contents_lock {
  UC_ALIGNED struct lwlock lock;
}* contents;  // pins=spin
#define STATE_USE (UINT64_C(1) << 32)
#define MOST_USES 5

static struct transactions_state {
  UC_ALIGNED uint32_t next_xid;                  // with LOCK_XID_GEN held
  UC_ALIGNED _Atomic uint32_t latest_completed;  // with LOCK_PROC_ARRAY held
  uint32_t completed;                            // how many
  UC_ALIGNED uint64_t message_count;             // only read
}* shared;

// ---- Finding things -----------------------------------------------------------------------------

static struct lwlock* lwlock_at(uint64_t place) {
  return (struct lwlock*)(lwlocks + place * lwlock_bytes);
}

static struct xact* xact_of(uint64_t backend) {
  return (struct xact*)(xacts + backend * xact_stride);
}

static uint64_t mixed(uint64_t value) { return value * 0x9E3779B97F4A7C15 >> 40; }

static uint64_t place_of_buffer(uint64_t page) {
  return FIRST_PARTITION + mixed(page + 1) % partitions;
}

static uint64_t place_of_locks(uint64_t partition) {
  return FIRST_PARTITION + partitions + partition;
}

static uint64_t place_of_backend(const struct backend* self) {
  return FIRST_PARTITION + partitions + LOCK_PARTITIONS + self->id;
}

static void acquire(struct backend* self, uint64_t place, enum lwlock_mode mode) {
  lwlock_acquire(lwlock_at(place), &self->waiter, mode);
}

static void release(struct backend* self, uint64_t place, enum lwlock_mode mode) {
  lwlock_release(lwlock_at(place), &self->waiter, mode);
}

// Knuth's linear congruential generator (MMIX). Only its upper bits are random enough.
static uint64_t draw(struct backend* self, uint64_t below) {
  self->random = self->random * 6364136223846793005 + 1442695040888963407;
  return (self->random >> 33) % below;
}

static void work_part(void) { uc_delay(work / WORK_PARTS); }

// ---- The lock manager ---------------------------------------------------------------------------

// The entries of relations come first, then one for the transaction of each backend.
static uint64_t partition_of(const struct backend* self, uint64_t entry) {
  return mixed(entry < RELATIONS ? entry + 1 : 100 * self->id + self->transaction) %
         LOCK_PARTITIONS;
}

// Returns the bucket of a backend's holding. Buckets of a partition stand LOCK_PARTITIONS apart.
static struct holding** bucket_of(const struct backend* self, uint64_t entry, uint64_t partition) {
  uint64_t hash = mixed(entry + 1) + 16 * self->id;
  return &holding_buckets[hash % (BUCKETS / LOCK_PARTITIONS) * LOCK_PARTITIONS + partition];
}

static void grant(struct backend* self, uint64_t entry, uint64_t partition) {
  struct lock_entry* lock = &lock_entries[entry];
  spin_acquire(&free_holdings->mutex, &self->waiter);
  struct holding* holding = free_holdings->first;
  free_holdings->first = holding->chain;
  free_holdings->used++;
  spin_unlock(&free_holdings->mutex);
  struct holding** bucket = bucket_of(self, entry, partition);
  *holding = (struct holding){*bucket, self, entry, NULL, lock->last};
  *bucket = holding;
  *(lock->last ? &lock->last->next : &lock->first) = holding;
  lock->last = holding;
  lock->granted++;
  lock->requests++;
}

static void ungrant(struct backend* self, uint64_t entry, uint64_t partition) {
  struct lock_entry* lock = &lock_entries[entry];
  struct holding** at = bucket_of(self, entry, partition);
  while (*at && ((*at)->backend != self || (*at)->entry != entry)) at = &(*at)->chain;
  struct holding* holding = *at;
  uc_check(holding, "a lock is not there that was granted");
  *at = holding->chain;
  *(holding->before ? &holding->before->next : &lock->first) = holding->next;
  *(holding->next ? &holding->next->before : &lock->last) = holding->before;
  lock->granted--;
  spin_acquire(&free_holdings->mutex, &self->waiter);
  holding->chain = free_holdings->first;
  free_holdings->first = holding;
  free_holdings->used--;
  spin_unlock(&free_holdings->mutex);
}

static void change_entry(struct backend* self, uint64_t entry, bool granted) {
  uint64_t partition = partition_of(self, entry);
  acquire(self, place_of_locks(partition), EXCLUSIVE);
  uc_check(!lock_partitions[partition].inside, "two backends change one partition of locks");
  lock_partitions[partition].inside = self;
  uc_work(LOCK_WORK);
  (granted ? grant : ungrant)(self, entry, partition);
  lock_partitions[partition].inside = NULL;
  release(self, place_of_locks(partition), EXCLUSIVE);
}

// Notes a lock in the backend's own slots, if no backend wants a strong lock of the relation.
static void change_slot(struct backend* self, uint64_t entry, uint32_t relation) {
  acquire(self, place_of_backend(self), EXCLUSIVE);
  uc_check(!strong_locks[entry], "somebody wants a strong lock");
  self->slots[entry] = relation;
  release(self, place_of_backend(self), EXCLUSIVE);
}

static void accept_messages(struct backend* self) {
  if (messages == MESSAGES_FLAG) {
    uc_check(!atomic_load_explicit(&self->has_messages, memory_order_acquire),
             "there is a message that nobody has sent");
    return;
  }
  acquire(self, LOCK_SINVAL_READ, SHARED);
  uc_check(!shared->message_count, "there is a message that nobody has sent");
  release(self, LOCK_SINVAL_READ, SHARED);
}

static void lock_relation(struct backend* self, uint64_t entry) {
  if (relations == IN_OWN)
    change_slot(self, entry, 1);
  else
    change_entry(self, entry, true);
  accept_messages(self);
}

static void unlock_relations(struct backend* self) {
  for (uint64_t entry = 0; entry < RELATIONS; entry++) {
    if (relations == IN_OWN)
      change_slot(self, entry, 0);
    else
      change_entry(self, entry, false);
  }
}

static void lock_transaction(struct backend* self, bool locked) {
  if (transactions == IN_SHARED) {
    change_entry(self, RELATIONS + self->id, locked);
    return;
  }
  acquire(self, place_of_backend(self), EXCLUSIVE);
  self->own_transaction = locked ? self->transaction : 0;
  release(self, place_of_backend(self), EXCLUSIVE);
}

// ---- Transactions and snapshots -----------------------------------------------------------------

static void xid_assign(struct backend* self) {
  acquire(self, LOCK_XID_GEN, EXCLUSIVE);
  atomic_store_explicit(&xact_of(self->id)->xid, ++shared->next_xid, memory_order_relaxed);
  release(self, LOCK_XID_GEN, EXCLUSIVE);
}

// Each transaction up to the latest completed one has a number in the array, or is completed.
static void take_snapshot(struct backend* self) {
  acquire(self, LOCK_PROC_ARRAY, SHARED);
  uint32_t latest = atomic_load_explicit(&shared->latest_completed, memory_order_relaxed);
  uint32_t oldest = latest + 1, running = 0;
  for (uint64_t i = 0; i < backend_count; i++) {
    struct xact* xact = xact_of(i);
    if (xact->flags) continue;
    uint32_t xmin = atomic_load_explicit(&xact->xmin, memory_order_relaxed);
    if (xmin && xmin < oldest) oldest = xmin;
    uint32_t xid = atomic_load_explicit(&xact->xid, memory_order_relaxed);
    running += xid && xid <= latest;
  }
  uc_check(running + shared->completed == latest, "a snapshot misses a transaction");
  struct xact* own = xact_of(self->id);
  if (!atomic_load_explicit(&own->xmin, memory_order_relaxed))
    atomic_store_explicit(&own->xmin, oldest, memory_order_relaxed);
  release(self, LOCK_PROC_ARRAY, SHARED);
}

// ProcArrayEndTransaction: without a number of its own, a transaction needs no lock.
static void end_transaction(struct backend* self) {
  struct xact* own = xact_of(self->id);
  uint32_t xid = atomic_load_explicit(&own->xid, memory_order_relaxed);
  if (xid && !UC_SABOTAGE) acquire(self, LOCK_PROC_ARRAY, EXCLUSIVE);
  if (xid) {
    shared->completed++;
    uint32_t latest = atomic_load_explicit(&shared->latest_completed, memory_order_relaxed);
    if (xid > latest) atomic_store_explicit(&shared->latest_completed, xid, memory_order_relaxed);
    atomic_store_explicit(&own->xid, 0, memory_order_relaxed);
  }
  atomic_store_explicit(&own->xmin, 0, memory_order_relaxed);
  if (xid && !UC_SABOTAGE) release(self, LOCK_PROC_ARRAY, EXCLUSIVE);
}

// ---- Buffers ------------------------------------------------------------------------------------

static void pin(struct buffer* buffer, struct waiter* self) {
  if (pins == PINS_SPIN) {
    spin_acquire(&buffer->header, self);
    buffer->references++;
    if (buffer->usage < MOST_USES) buffer->usage++;
    spin_unlock(&buffer->header);
    return;
  }
  uint64_t old = atomic_load_explicit(&buffer->state, memory_order_relaxed), wanted;
  do wanted = old + 1 + (old / STATE_USE < MOST_USES ? STATE_USE : 0);
  while (!atomic_compare_exchange_strong_explicit(&buffer->state, &old, wanted,
                                                  memory_order_acq_rel, memory_order_relaxed));
}

static void unpin(struct buffer* buffer, struct waiter* self) {
  if (pins == PINS_SPIN) {
    spin_acquire(&buffer->header, self);
    buffer->references--;
    spin_unlock(&buffer->header);
    return;
  }
  uint64_t old = atomic_load_explicit(&buffer->state, memory_order_relaxed);
  while (!atomic_compare_exchange_strong_explicit(&buffer->state, &old, old - 1,
                                                  memory_order_acq_rel, memory_order_relaxed))
    continue;
}

static void read_page(struct backend* self, uint64_t page) {
  struct buffer* buffer = &buffers[page];
  uint64_t place = place_of_buffer(page);
  acquire(self, place, SHARED);
  uc_work(LOOK_WORK);
  pin(buffer, &self->waiter);
  release(self, place, SHARED);
  struct lwlock* lock = pins == PINS_SPIN ? &contents[page].lock : &buffer->contents;
  lwlock_acquire(lock, &self->waiter, SHARED);
  uc_work(PAGE_WORK);
  lwlock_release(lock, &self->waiter, SHARED);
  unpin(buffer, &self->waiter);
}

static void find_row(struct backend* self) {
  uint64_t leaf = draw(self, pages);
  read_page(self, 0);
  read_page(self, 1 + leaf % INNER_PAGES);
  read_page(self, 1 + INNER_PAGES + leaf);
  work_part();
  read_page(self, 1 + INNER_PAGES + pages + draw(self, pages));
}

// ---- A query ------------------------------------------------------------------------------------

static void query(struct backend* self) {
  work_part();  // the client's message is read
  self->transaction++;
  accept_messages(self);
  lock_transaction(self, true);
  work_part();
  lock_relation(self, 0);
  take_snapshot(self);
  work_part();
  lock_relation(self, 1);
  work_part();
  take_snapshot(self);
  work_part();
  if (writes && draw(self, 100) < writes) {
    xid_assign(self);
    self->writes++;
  }
  find_row(self);
  work_part();
  end_transaction(self);
  unlock_relations(self);
  lock_transaction(self, false);
  work_part();  // the answer is sent
}

static void serve(struct backend* self, struct loop loop) {
  while (loop_more(&loop)) {
    uc_start();
    query(self);
    uc_op();
    if (clients) uc_yield();
  }
}

static void serve_client(void* argument) {
  struct loop loop = loop_plan();
  loop.left = share;
  serve(argument, loop);
}

// ---- The run ------------------------------------------------------------------------------------

static void entries_setup(void) {
  xact_stride = entries == ENTRIES_PACKED ? XACT_BYTES : UC_BLOCK;
  xacts = uc_alloc(backend_count * xact_stride, 0);
  if (entries != ENTRIES_PROCESS) return;
  xacts = (char*)&backends[0].xact;
  xact_stride = sizeof *backends;
}

// A backend holds the locks of all relations and of its transaction at most.
static void holdings_setup(void) {
  holding_buckets = uc_alloc(BUCKETS * sizeof *holding_buckets, 0);
  free_holdings = uc_alloc(sizeof *free_holdings, 0);
  uint64_t count = backend_count * (RELATIONS + 1);
  struct holding* memory = uc_alloc(count * sizeof *memory, 0);
  for (uint64_t i = 0; i < count; i++) {
    memory[i].chain = free_holdings->first;
    free_holdings->first = &memory[i];
  }
}

static void buffers_setup(void) {
  buffer_count = 1 + INNER_PAGES + 2 * pages;
  buffers = uc_alloc(buffer_count * sizeof *buffers, 0);
  contents = uc_alloc(buffer_count * sizeof *contents, 0);
  for (uint64_t i = 0; i < buffer_count; i++) {
    lwlock_setup(&contents[i].lock);
    lwlock_setup(&buffers[i].contents);
  }
}

void uc_setup(unsigned n) {
  uc_require(pages && partitions && writes <= 100, "pages and partitions must be 1 or more");
  uc_require(lwlock_bytes >= sizeof(struct lwlock) && lwlock_bytes % 8 == 0,
             "lwlock_bytes must be a multiple of 8, 32 or more");
  uc_sched_setup(n);
  backend_count = clients ? clients : n;
  share = duration ? 1 : (ops * n + backend_count - 1) / backend_count;
  backends = uc_alloc(backend_count * sizeof *backends, 0);
  shared = uc_alloc(sizeof *shared, 0);
  lock_entries = uc_alloc((RELATIONS + backend_count) * sizeof *lock_entries, 0);
  lock_partitions = uc_alloc(LOCK_PARTITIONS * sizeof *lock_partitions, 0);
  holdings_setup();
  strong_locks = uc_alloc(STRONG_LOCKS * sizeof *strong_locks, 0);
  uint64_t locks = FIRST_PARTITION + partitions + LOCK_PARTITIONS + backend_count;
  lwlocks = uc_alloc(locks * lwlock_bytes, 0);
  for (uint64_t i = 0; i < locks; i++) lwlock_setup(lwlock_at(i));
  entries_setup();
  buffers_setup();
  for (uint64_t i = 0; i < backend_count; i++) {
    backends[i].id = i;
    backends[i].random = i + 1;
    backends[i].waiter.spins = SPINS_FIRST;
    if (clients) uc_thread_create(serve_client, &backends[i], NULL);
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  if (clients) {
    loop_attend();
    uc_sched_run();
  } else {
    serve(&backends[id], loop_begin());
  }
  loop_end();
}

static void check_buffers(void) {
  for (uint64_t i = 0; i < buffer_count; i++) {
    struct buffer* buffer = &buffers[i];
    uc_check(!buffer->references && !(uint32_t)buffer->state, "a buffer is still pinned");
    uc_check(lwlock_is_free(&buffer->contents) && lwlock_is_free(&contents[i].lock),
             "a page is still locked");
  }
}

void uc_finish(unsigned n) {
  uint64_t written = 0, requests = 0, noted = 0;
  for (uint64_t i = 0; i < FIRST_PARTITION + partitions + LOCK_PARTITIONS + backend_count; i++)
    uc_check(lwlock_is_free(lwlock_at(i)), "a lightweight lock is still held");
  for (uint64_t i = 0; i < backend_count; i++) {
    written += backends[i].writes;
    noted += backends[i].slots[0] + backends[i].slots[1] + backends[i].own_transaction;
    uc_check(!xact_of(i)->xid && !xact_of(i)->xmin, "a transaction has not ended");
    uc_check(!lock_entries[RELATIONS + i].granted, "a transaction is still locked");
  }
  for (uint64_t entry = 0; entry < RELATIONS; entry++) {
    uc_check(!lock_entries[entry].granted && !lock_entries[entry].first,
             "a relation is still locked");
    requests += lock_entries[entry].requests;
  }
  uc_check(!noted && !free_holdings->used, "a backend still notes a lock");
  uc_check(requests == (relations == IN_SHARED ? RELATIONS * uc_total_ops(n) : 0),
           "locks of relations were not counted");
  uc_check(shared->next_xid == written && shared->completed == written &&
               shared->latest_completed == written,
           "transactions that write were not counted");
  check_buffers();
}
