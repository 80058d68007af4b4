// The worker threads of memcached: a hash table of items, a list by last use, and their locks.
//
// Each worker serves commands of its own connections. A get finds an item, takes a reference to it,
// writes the answer from the item's own memory, and drops the reference when the answer is sent. A
// set makes a new item and links it in place of the old one. Three releases lock differently
// (`locks`; thread.c, items.c, assoc.c and slabs.c of each release):
//
//   global   up to 1.4.9: one pthread mutex, cache_lock, three times for each key of a get: to find
//            the item (the key is hashed with the lock held), to look whether it must move in the
//            list, and to drop the reference. A set looks at 50 items at the end of the list for an
//            expired one, with the lock held
//   items    1.4.10: a table of pthread mutexes, chosen by the key's hash, guards references; 8192
//            of them, of 40 bytes, so that lines are shared. cache_lock guards the hash table and
//            the list: a get takes it once, a set four times, and looks at one item at the list's
//            end. Waiters for these locks spin: they try the mutex without a pause until they have
//            it
//   buckets  1.4.15: the item's lock covers its bucket, too, so a get does not take cache_lock, and
//            counts of references are atomic
//
// The allocator's lock (slabs_lock) and that of the global statistics are pthread mutexes in all
// three. Each worker has statistics of its own, under a mutex that nobody else takes.
//
// With `global` the workers soon wait for cache_lock most of the time, and sleep and wake each
// other: throughput is best with few threads. With `items` they wait less, and do not sleep;
// spinning without a pause moves the lock's line with each try, so that throughput falls above some
// thread count. With `buckets` threads that get share only items' lines, and throughput rises with
// the harts; sets still contend for cache_lock.
//
// `work` and `command` are the private part: parsing a key and writing its answer, and the kernel's
// part of a command (reading, sending, polling). Their defaults follow from 478,000 commands of one
// key and 3.6 million keys in commands of 50 a second, with four threads of memcached 1.4.13
// (Dormando, gist 3088511, July 2012). Not modelled: expiry, eviction (the memory is large enough),
// a growing table, the move to the head of the list, which an item makes once a minute.
//
// An operation is a key fetched or set.
//
// Check: an answer has the item that was asked for, unchanged until it is sent; at the end each key
// has one item, the list has all of them, and no reference is left.
#include "glibc_mutex.h"
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Workers of memcached: one lock, or a lock for each group of items");
UC_KINDS("get|set");
enum locks { LOCKS_GLOBAL, LOCKS_ITEMS, LOCKS_BUCKETS };
UC_PARAM(choice, locks, LOCKS_GLOBAL, "global|items|buckets",
         "which locks there are: those of 1.4.9, 1.4.10 or 1.4.15");
UC_PARAM(u64, items, 4096, "items", "in the cache, each with a key of its own");
UC_PARAM(u64, keys, 10, "keys", "of a command that gets");
UC_PARAM(u64, sets, 10, "percent", "operations that set a key");
UC_PARAM(duration, work, 600, "ns", "private work for a key");
UC_PARAM(duration, command, 7400, "ns", "private work for a command");

#define MOST_KEYS 64
#define HASH_WORK 80     // instructions of Jenkins' hash of a short key
#define TRY_WORK 12      // instructions of a call of pthread_mutex_trylock that fails
#define DEPTH_GLOBAL 50  // items at the end of the list at which a set looks
#define DEPTH_BUCKETS 5  // the same, with locks=buckets
#define ITEM_LOCKS 8192  // for five workers and more
#define MUTEX_BYTES 40   // size of a pthread_mutex_t on x86-64
#define VALUE_WORDS 8    // a value fills a line

// `references` changes with the lock held that `locks` says, or atomically. It is atomic for the
// sake of those that look at the end of the list.
struct item {
  UC_ALIGNED struct item *next, *prev;  // in the list by last use
  struct item* chain;                   // in the bucket
  uint64_t time;
  _Atomic uint64_t references;
  uint64_t linked;
  uint64_t key;
  uint64_t cas;
  uint64_t value[VALUE_WORDS];
};

struct table_mutex {
  struct glibc_mutex mutex;
  char filler[MUTEX_BYTES - sizeof(struct glibc_mutex)];
};

static struct item** buckets;
static uint64_t bucket_count;  // a power of two
static struct table_mutex* item_locks;

static struct cache {
  UC_ALIGNED struct glibc_mutex lock;
  UC_ALIGNED struct item *head, *tail;
  uint64_t length, cas;
}* cache;

static struct slabs {
  UC_ALIGNED struct glibc_mutex lock;
  UC_ALIGNED struct item* free;
  uint64_t length;
}* slabs;

static struct statistics {
  UC_ALIGNED struct glibc_mutex lock;
  UC_ALIGNED uint64_t present, total;
}* statistics;

static struct worker {
  UC_ALIGNED struct glibc_mutex lock;  // of its statistics
  uint64_t gets, sets;
  UC_ALIGNED uint64_t random;
  uint64_t pending;  // number of items whose answers are not sent
  struct item* answers[MOST_KEYS];
}* workers;

// ---- Locks --------------------------------------------------------------------------------------

// Takes cache_lock or an item's lock. Releases since 1.4.10 only try.
static void take(struct glibc_mutex* mutex) {
  if (locks == LOCKS_GLOBAL) {
    glibc_lock(mutex);
    return;
  }
  while (!glibc_trylock(mutex)) uc_work(TRY_WORK);
}

static uint64_t hash_of(uint64_t key) {
  uc_work(HASH_WORK);
  return key * 0x9E3779B97F4A7C15 >> 32;
}

// Returns the lock of the items with this hash. It covers whole buckets.
static struct glibc_mutex* item_lock_of(uint64_t hash) {
  return &item_locks[(hash & (bucket_count - 1)) % ITEM_LOCKS].mutex;
}

// Takes the lock that guards an item's references, and returns it. With one lock for all, the hash
// is computed after that.
static struct glibc_mutex* lock_item(uint64_t key, uint64_t* hash) {
  if (locks == LOCKS_GLOBAL) {
    take(&cache->lock);
    *hash = 0;
    return &cache->lock;
  }
  *hash = hash_of(key);
  struct glibc_mutex* lock = item_lock_of(*hash);
  take(lock);
  return lock;
}

// Takes cache_lock inside of an item's lock, unless they are the same.
static void lock_cache(void) {
  if (locks != LOCKS_GLOBAL) take(&cache->lock);
}

static void unlock_cache(void) {
  if (locks != LOCKS_GLOBAL) glibc_unlock(&cache->lock);
}

// ---- References and memory ----------------------------------------------------------------------

static uint64_t references_of(struct item* item) {
  return atomic_load_explicit(&item->references, memory_order_relaxed);
}

// Changes the count, and returns the new one.
static uint64_t reference_add(struct item* item, int64_t change) {
  if (locks == LOCKS_BUCKETS)
    return atomic_fetch_add_explicit(&item->references, (uint64_t)change, memory_order_acq_rel) +
           (uint64_t)change;
  uint64_t count = references_of(item) + (uint64_t)change;
  atomic_store_explicit(&item->references, count, memory_order_relaxed);
  return count;
}

static struct item* slabs_take(void) {
  glibc_lock(&slabs->lock);
  struct item* item = slabs->free;
  if (item) {
    slabs->free = item->next;
    slabs->length--;
  }
  glibc_unlock(&slabs->lock);
  return item;
}

static void slabs_give(struct item* item) {
  glibc_lock(&slabs->lock);
  item->next = slabs->free;
  slabs->free = item;
  slabs->length++;
  glibc_unlock(&slabs->lock);
}

// Drops a reference with the item's lock held. An item in the cache has one of its own with
// locks=buckets, and none in the other releases.
static void drop(struct item* item) {
  uc_check(references_of(item) > 0 && references_of(item) < UINT32_MAX,
           "a reference was dropped that nobody had taken");
  if (reference_add(item, -1) == 0 && !item->linked) slabs_give(item);
}

// ---- Table and list, with cache_lock or with the bucket's lock held -----------------------------

static struct item** place_of(uint64_t hash, uint64_t key) {
  struct item** at = &buckets[hash & (bucket_count - 1)];
  while (*at && (*at)->key != key) at = &(*at)->chain;
  return at;
}

static void list_insert(struct item* item) {
  item->prev = NULL;
  item->next = cache->head;
  if (item->next) item->next->prev = item;
  cache->head = item;
  if (!cache->tail) cache->tail = item;
  cache->length++;
}

static void list_remove(struct item* item) {
  *(item->prev ? &item->prev->next : &cache->head) = item->next;
  *(item->next ? &item->next->prev : &cache->tail) = item->prev;
  cache->length--;
}

static void count_items(uint64_t present, uint64_t total) {
  glibc_lock(&statistics->lock);
  statistics->present += present;
  statistics->total += total;
  glibc_unlock(&statistics->lock);
}

// do_item_link: in 1.4.10 the statistics come before cache_lock is taken.
static void link_item(struct item* item, uint64_t hash) {
  item->linked = 1;
  item->time = 1;
  if (locks == LOCKS_ITEMS) count_items(1, 1);
  lock_cache();
  if (locks == LOCKS_BUCKETS) count_items(1, 1);
  item->cas = ++cache->cas;
  struct item** bucket = &buckets[hash & (bucket_count - 1)];
  item->chain = *bucket;
  *bucket = item;
  if (locks == LOCKS_GLOBAL) count_items(1, 1);
  list_insert(item);
  if (locks == LOCKS_BUCKETS) reference_add(item, 1);
  unlock_cache();
}

static void unlink_item(struct item* item, uint64_t hash) {
  if (locks != LOCKS_BUCKETS) count_items((uint64_t)-1, 0);
  lock_cache();
  if (locks == LOCKS_BUCKETS) count_items((uint64_t)-1, 0);
  item->linked = 0;
  struct item** at = place_of(hash, item->key);
  uc_check(*at == item, "an item to be replaced is not in its bucket");
  *at = item->chain;
  list_remove(item);
  if (locks == LOCKS_BUCKETS) drop(item);
  unlock_cache();
}

// ---- Items --------------------------------------------------------------------------------------

// do_item_get: finds an item and takes a reference, with its lock held.
static struct item* find(uint64_t key, uint64_t hash) {
  if (locks == LOCKS_ITEMS) take(&cache->lock);
  struct item* item = *place_of(hash, key);
  if (locks == LOCKS_ITEMS) glibc_unlock(&cache->lock);
  uc_check(item, "a key has no item");
  reference_add(item, 1);
  return item;
}

static struct item* item_get(uint64_t key) {
  uint64_t hash;
  struct glibc_mutex* lock = lock_item(key, &hash);
  if (locks == LOCKS_GLOBAL) hash = hash_of(key);
  struct item* item = find(key, hash);
  if (UC_SABOTAGE) reference_add(item, -1);
  glibc_unlock(lock);
  return item;
}

// An item that was used in the last minute stays where it is in the list.
static void item_update(struct item* item) {
  uint64_t hash;
  struct glibc_mutex* lock = lock_item(item->key, &hash);
  uc_check(item->time, "an item was never linked");
  glibc_unlock(lock);
}

static void item_remove(struct item* item) {
  uint64_t hash;
  struct glibc_mutex* lock = lock_item(item->key, &hash);
  drop(item);
  glibc_unlock(lock);
}

// Looks for an expired item at the end of the list. No item ever expires. With locks=buckets it
// takes the lock of the item at which it looks, if that is free, and a reference.
static void look_at_tail(void) {
  struct item* item = cache->tail;
  if (locks != LOCKS_BUCKETS) {
    uint64_t depth = locks == LOCKS_GLOBAL ? DEPTH_GLOBAL : 1;
    for (; depth && item; depth--, item = item->prev)
      if (!references_of(item)) uc_check(item->time, "an item in the list was never linked");
    return;
  }
  for (uint64_t depth = DEPTH_BUCKETS; depth && item; depth--, item = item->prev) {
    struct glibc_mutex* lock = item_lock_of(hash_of(item->key));
    if (!glibc_trylock(lock)) continue;
    bool unused = reference_add(item, 1) == 2;
    reference_add(item, -1);
    glibc_unlock(lock);
    if (unused) return;
  }
}

static struct item* item_alloc(uint64_t key) {
  take(&cache->lock);
  look_at_tail();
  struct item* item = slabs_take();
  uc_check(item, "the allocator has no memory");
  item->key = key;
  item->linked = 0;
  atomic_store_explicit(&item->references, 1, memory_order_relaxed);
  glibc_unlock(&cache->lock);
  return item;
}

static void store_item(struct item* item) {
  uint64_t hash;
  struct glibc_mutex* lock = lock_item(item->key, &hash);
  if (locks == LOCKS_GLOBAL) hash = hash_of(item->key);
  struct item* old = find(item->key, hash);
  unlink_item(old, hash);
  link_item(item, hash);
  drop(old);
  glibc_unlock(lock);
}

// ---- Commands -----------------------------------------------------------------------------------

static void count(struct worker* self, uint64_t gets, uint64_t sets_done) {
  glibc_lock(&self->lock);
  self->gets += gets;
  self->sets += sets_done;
  glibc_unlock(&self->lock);
}

// Ends a command: the answers are sent, and the references dropped.
static void send_answers(struct worker* self) {
  uc_delay(command);
  for (uint64_t i = 0; i < self->pending; i++) {
    struct item* item = self->answers[i];
    for (uint64_t word = 0; word < VALUE_WORDS; word++)
      uc_check(item->value[word] && item->value[word] == item->value[0],
               "an item changed while its answer was sent");
    item_remove(item);
  }
  self->pending = 0;
}

static void get(struct worker* self, uint64_t key) {
  uc_kind(0);
  uc_delay(work);
  struct item* item = item_get(key);
  uc_check(item->key == key, "an answer has another key");
  count(self, 1, 0);
  item_update(item);
  self->answers[self->pending++] = item;
  if (self->pending == keys) send_answers(self);
}

static void set(struct worker* self, uint64_t key) {
  uc_kind(1);
  uc_delay(work);
  struct item* item = item_alloc(key);
  for (uint64_t word = 0; word < VALUE_WORDS; word++) item->value[word] = self->random;
  count(self, 0, 1);
  store_item(item);
  item_remove(item);
  uc_delay(command);
}

// Knuth's linear congruential generator (MMIX). Only its upper bits are random enough.
static uint64_t draw(struct worker* self, uint64_t below) {
  self->random = self->random * 6364136223846793005 + 1442695040888963407;
  return (self->random >> 33) % below;
}

// ---- The run ------------------------------------------------------------------------------------

void uc_setup(unsigned n) {
  uc_require(items && keys && keys <= MOST_KEYS && sets <= 100,
             "items must be 1 or more, keys 1 to 64, sets at most 100");
  uc_sched_setup(n);
  for (bucket_count = 1; bucket_count < items; bucket_count *= 2) continue;
  buckets = uc_alloc(bucket_count * sizeof *buckets, 0);
  item_locks = uc_alloc(ITEM_LOCKS * sizeof *item_locks, 0);
  cache = uc_alloc(sizeof *cache, 0);
  slabs = uc_alloc(sizeof *slabs, 0);
  statistics = uc_alloc(sizeof *statistics, 0);
  workers = uc_alloc(n * sizeof *workers, 0);
  uint64_t spare = n * (keys + 2);  // each worker refers to at most so many replaced items
  struct item* memory = uc_alloc((items + spare) * sizeof *memory, 0);
  for (uint64_t i = 0; i < items + spare; i++) slabs_give(&memory[i]);
  for (uint64_t key = 0; key < items; key++) {
    struct item* item = slabs_take();
    item->key = key;
    for (uint64_t word = 0; word < VALUE_WORDS; word++) item->value[word] = key + 1;
    uint64_t hash = hash_of(key);
    link_item(item, hash);
  }
  for (unsigned id = 0; id < n; id++) workers[id].random = id + 1;
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  struct worker* self = &workers[id];
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    uint64_t key = draw(self, items);
    if (draw(self, 100) < sets)
      set(self, key);
    else
      get(self, key);
    uc_op();
  }
  send_answers(self);
  loop_end();
}

void uc_finish(unsigned n) {
  uint64_t linked = 0, spare = n * (keys + 2), gets = 0, sets_done = 0;
  for (uint64_t i = 0; i < bucket_count; i++)
    for (struct item* item = buckets[i]; item && linked <= items; item = item->chain) {
      linked++;
      uc_check(item->linked, "an item in the table is not linked");
      uc_check(references_of(item) == (locks == LOCKS_BUCKETS), "a reference is left");
    }
  uint64_t listed = 0;
  struct item* before = NULL;
  for (struct item* item = cache->head; item && listed <= items; item = item->next) {
    uc_check(item->prev == before, "the list by last use is broken");
    before = item;
    listed++;
  }
  for (unsigned id = 0; id < n; id++) gets += workers[id].gets, sets_done += workers[id].sets;
  uc_check(linked == items && listed == items && cache->length == items, "keys were lost");
  uc_check(slabs->length == spare, "memory was lost");
  uc_check(gets + sets_done == uc_total_ops(n), "operations were not counted");
  uc_check(statistics->present == items && statistics->total == items + sets_done,
           "the statistics are wrong");
}
