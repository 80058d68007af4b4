// Connection lookup: what keeps a connection from being freed between finding and locking it.
//
// Each packet goes to the control block of its connection (inpcb), found in a hash table. The
// lookup returns the block locked. Something must keep it and the other blocks of its chain from
// being freed while the chain is walked (`guard`).
//
//   rwlock  the table's lock, taken shared: no update meanwhile. This excludes more than needed,
//           and every packet of the system updates the lock's line twice, atomically (FreeBSD 11)
//   epoch   the walk is an epoch section: blocks may be unlinked meanwhile, but not freed. A lookup
//           that has locked a block checks whether it was unlinked, and then reports none. Updaters
//           exclude each other with a mutex (FreeBSD 12)
//
// On a loaded server with several sockets the epoch cut the time in lookups by a factor of 10 to 20
// (Macy 2018). Each hart's packets belong to its own connections, so nothing else is shared. One of
// these is short-lived: every `churn` lookups it is closed and another is opened.
//
// Check: no lookup reaches a freed block, and each finds its open connection.
#include "calls.h"
#include "epoch.h"
#include "mtx.h"
#include "rwlock.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path connection lookup: rwlock or epoch keeps blocks alive");
enum guard { RWLOCK, EPOCH };
UC_PARAM(choice, guard, RWLOCK, "rwlock|epoch", "what keeps a block alive during a lookup");
UC_PARAM(u64, connections, 4, "connections", "of each hart");
UC_PARAM(u64, chain, 4, "connections", "in a chain of the table, on average");
UC_PARAM(u64, churn, 25, "lookups", "a hart replaces its short connection after so many; 0: never");
UC_PARAM(u64, work, 0, "instructions", "private work between two lookups");
UC_PARAM(u64, compare_work, 15, "instructions", "to compare one block of a chain");

#define SPARE 16  // blocks of a hart that may wait to be freed

enum state { FREED, OPEN, UNLINKED };

struct block {
  UC_ALIGNED _Atomic(struct block*) next;  // next block of the chain
  _Atomic uint64_t key;
  _Atomic uint64_t state;
  UC_ALIGNED struct spinlock lock;
  struct deferred deferred;  // link while the block waits to be freed, then in the free list
  struct host* host;         // the hart that owns the block, for the free list
};

static struct table {
  UC_ALIGNED struct rwlock lock;  // with guard=rwlock
  UC_ALIGNED struct mtx updates;
}* table;

// The chains' heads are adjacent words, as in the kernel's table.
static _Atomic(struct block*)* chains;
static uint64_t chain_count;
static struct epoch* epoch;

// One hart's data about its own connections.
static struct host {
  UC_ALIGNED uint64_t calls;
  uint64_t next_key;
  uint64_t* keys;  // keys of its open connections
  struct deferred_list free;
}* hosts;

static _Atomic(struct block*)* chain_of(uint64_t key) {
  return &chains[(key * 0x9E3779B97F4A7C15ull >> 32) % chain_count];
}

static uint64_t state(struct block* block) {
  return atomic_load_explicit(&block->state, memory_order_relaxed);
}

static void state_set(struct block* block, enum state new) {
  atomic_store_explicit(&block->state, new, memory_order_relaxed);
}

static struct block* next(_Atomic(struct block*)* link) {
  return atomic_load_explicit(link, memory_order_acquire);
}

// ---- Lookup -------------------------------------------------------------------------------------

static void guard_enter(unsigned id) {
  if (guard == EPOCH)
    epoch_enter(epoch, id);
  else if (!UC_SABOTAGE)
    rw_rlock(&table->lock);
}

static void guard_exit(unsigned id) {
  if (guard == EPOCH)
    epoch_exit(epoch, id);
  else if (!UC_SABOTAGE)
    rw_runlock(&table->lock);
}

static bool matches(struct block* block, uint64_t key) {
  bool found = atomic_load_explicit(&block->key, memory_order_relaxed) == key;
  uc_work(UC_SABOTAGE ? 1000 : (int64_t)compare_work);  // sabotage: a wide window without a guard
  uc_check(state(block) != FREED, "a freed block stood in a chain");
  return found;
}

// Returns the block of a connection, locked, or null if there is none.
static struct block* look_up(unsigned id, uint64_t key) {
  guard_enter(id);
  struct block *first = next(chain_of(key)), *block = first;
  while (block && !matches(block, key)) block = next(&block->next);
  if (block) spin_lock(&block->lock);
  if (block && state(block) != OPEN) {
    spin_unlock(&block->lock);
    block = NULL;
  }
  uc_check(!first || state(first) != FREED, "a block was freed while a lookup passed it");
  guard_exit(id);
  return block;
}

// ---- Updates ------------------------------------------------------------------------------------

static void updates_lock(void) {
  if (guard == RWLOCK)
    rw_wlock(&table->lock);
  else
    mtx_lock(&table->updates);
}

static void updates_unlock(void) {
  if (guard == RWLOCK)
    rw_wunlock(&table->lock);
  else
    mtx_unlock(&table->updates);
}

static void insert(struct block* block, uint64_t key) {
  _Atomic(struct block*)* head = chain_of(key);
  atomic_store_explicit(&block->key, key, memory_order_relaxed);
  state_set(block, OPEN);
  updates_lock();
  atomic_store_explicit(&block->next, next(head), memory_order_relaxed);
  atomic_store_explicit(head, block, memory_order_release);
  updates_unlock();
}

// Unlinks a block, but keeps its link to its successor: a reader may have reached the block.
static void unlink_block(struct block* block, uint64_t key) {
  updates_lock();
  _Atomic(struct block*)* link = chain_of(key);
  while (next(link) != block) link = &next(link)->next;
  atomic_store_explicit(link, next(&block->next), memory_order_release);
  updates_unlock();
}

static struct block* block_of(struct deferred* deferred) {
  return (struct block*)((char*)deferred - offsetof(struct block, deferred));
}

static void block_free(struct deferred* deferred) {
  struct block* block = block_of(deferred);
  state_set(block, FREED);
  deferred_append(&block->host->free, deferred);
}

// Polls the epoch only when no block is free, because polling reads every hart's record.
static struct block* block_take(unsigned id) {
  struct host* host = &hosts[id];
  while (!host->free.first) {
    epoch_wait(epoch);
    epoch_poll(epoch, id);
  }
  return block_of(deferred_take(&host->free));
}

static void open_connection(unsigned id, uint64_t* key) {
  *key = (uint64_t)id << 32 | ++hosts[id].next_key;
  insert(block_take(id), *key);
}

static void close_connection(unsigned id, uint64_t key) {
  struct block* block = look_up(id, key);
  if (!block) return;
  state_set(block, UNLINKED);
  spin_unlock(&block->lock);
  unlink_block(block, key);
  if (guard == EPOCH)
    epoch_call(epoch, id, &block->deferred, block_free);
  else
    block_free(&block->deferred);
}

// ---- The path -----------------------------------------------------------------------------------

static void host_make(unsigned id) {
  struct host* host = &hosts[id];
  host->keys = uc_alloc(connections * sizeof *host->keys, 0);
  for (uint64_t i = 0; i < connections + SPARE; i++) {
    struct block* block = uc_alloc(sizeof *block, 0);
    block->host = host;
    deferred_append(&host->free, &block->deferred);
  }
  for (uint64_t i = 0; i < connections; i++) open_connection(id, &host->keys[i]);
  host->calls = id;  // so that harts do not replace their connections in the same turn
}

void uc_setup(unsigned n) {
  uc_require(connections && chain, "connections and chain must be 1 or more");
  mtx_setup(n);
  table = uc_alloc(sizeof *table, 0);
  rw_init(&table->lock, n);
  chain_count = n * connections / chain + 1;
  chains = uc_alloc(chain_count * sizeof *chains, 0);
  epoch = epoch_make(n, 0);
  hosts = uc_alloc(n * sizeof *hosts, 0);
  for (unsigned id = 0; id < n; id++) host_make(id);
}

static void call(unsigned id) {
  struct host* host = &hosts[id];
  uint64_t turn = host->calls++;
  uint64_t* key = &host->keys[turn % connections];
  uc_work((int64_t)work);
  struct block* block = look_up(id, *key);
  uc_check(block, "an open connection was not found");
  if (block) spin_unlock(&block->lock);
  if (!churn || turn % churn) return;
  close_connection(id, host->keys[0]);
  open_connection(id, &host->keys[0]);
}

void uc_finish(unsigned n) {
  uint64_t open = 0;
  for (uint64_t i = 0; i < chain_count; i++)
    for (struct block* block = next(&chains[i]); block; block = next(&block->next)) open++;
  uc_check(open == n * connections, "connections were lost from the table");
}
