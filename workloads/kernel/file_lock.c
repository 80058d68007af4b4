// Advisory file locks (fcntl): each task locks a byte range and unlocks it again.
//
// The lock itself is a record in a list of its file. Around it, a system must find the record of
// the lock's owner, that is of the process. FreeBSD 11 kept all owners of the system in one table
// under one lock, so that locks on different files met there; FreeBSD 12 gave each chain of the
// table a lock of its own (`owners` hashed), neighbours in one line; Linux has no such table. On
// files of their own tasks then meet only by chance, and will-it-scale rises with the cores.
//
// Linux looks up the descriptor once more when it has locked, in case another thread has closed it
// meanwhile, and takes the lock of the process's table of descriptors for that (`recheck`;
// fcntl_setlk in fs/locks.c of 4.15): threads of one process meet there, on files of their own.
//
// With `files` one all tasks want the same range of one file: that is a lock, held across two
// system calls, and everybody else waits. Threads of one process never wait for each other: they
// are one owner.
//
// One operation here is two system calls, which will-it-scale counts apart.
//
// Check: a range has one owner at a time, and at the end no owner has a record left.
#include "calls.h"
#include "process.h"
#include "queued_lock.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path fcntl: advisory locks on own files, or on one");
enum owners { GLOBAL, HASHED, NO_TABLE };
UC_PARAM(choice, owners, GLOBAL, "global|hashed|none", "what guards the table of lock owners");
UC_PARAM(u64, chains, 256, "chains", "owners=hashed: chains of the table");
UC_PARAM(u64, chain_stride, 40, "bytes", "owners=hashed: from one chain to the next");
enum files { SEPARATE, ONE };
UC_PARAM(choice, files, SEPARATE, "separate|one", "a file for each task, or one for all");
UC_PARAM(bool, recheck, 0, "",
         "who has locked looks its descriptor up again, under its table's lock");
UC_PARAM(u64, work, 1500, "instructions", "entry, exit and private work of one fcntl");
UC_PARAM(u64, table_work, 50, "instructions", "of them in addition, under the table's lock");

struct chain {
  struct spinlock lock;
  uint32_t unused;
  uint64_t records;  // of all owners in this chain
  uint64_t changes;  // of that number: what was lost adding may have been lost subtracting
};

static char* table;

// A file, and the one range that anybody locks.
static struct file {
  UC_ALIGNED struct spinlock lock;
  _Atomic uint64_t owner;  // process plus one; 0: nobody
  uint64_t holds;          // how often the owner's threads have locked it
}* file;

// A process's table of descriptors, and a task's place in its lock's queue.
static struct descriptors {
  UC_ALIGNED union queued_lock lock;
}* descriptors;
static struct queue_node* waiting;

void uc_setup(unsigned n) {
  uc_require(chains && chain_stride >= sizeof(struct chain) && chain_stride % 8 == 0,
             "a table has a chain or more, each a multiple of 8 bytes, at least 24");
  table = uc_alloc(chains * chain_stride, 0);
  file = uc_alloc(n * sizeof *file, 0);
  descriptors = uc_alloc(n * sizeof *descriptors, 0);
  waiting = uc_alloc(n * sizeof *waiting, 0);
}

static struct chain* chain_at(uint64_t index) {
  return (struct chain*)(table + index * chain_stride);
}

// The owner's record count changes by one: found by its hash, under the lock of its chain.
static void owner_count(unsigned process, int64_t change) {
  if (owners == NO_TABLE) return;
  uint64_t hash = process * 0x9E3779B97F4A7C15ull >> 32;
  struct chain* chain = chain_at(owners == GLOBAL ? 0 : hash % chains);
  if (!UC_SABOTAGE) spin_lock(&chain->lock);
  uint64_t records = chain->records;
  uc_work((int64_t)table_work);
  chain->records = records + (uint64_t)change;
  chain->changes++;
  if (!UC_SABOTAGE) spin_unlock(&chain->lock);
}

static bool range_try(struct file* range, uint64_t owner) {
  spin_lock(&range->lock);
  uint64_t holder = atomic_load_explicit(&range->owner, memory_order_relaxed);
  bool free = !holder || holder == owner;
  if (free) {
    atomic_store_explicit(&range->owner, owner, memory_order_relaxed);
    range->holds++;
  }
  spin_unlock(&range->lock);
  return free;
}

static void range_await(struct file* range) {
  while (atomic_load_explicit(&range->owner, memory_order_relaxed)) uc_pause();
}

static void range_unlock(struct file* range, uint64_t owner) {
  spin_lock(&range->lock);
  uc_check(range->owner == owner, "another process took a range that was locked");
  if (--range->holds == 0) atomic_store_explicit(&range->owner, 0, memory_order_relaxed);
  spin_unlock(&range->lock);
}

static void descriptor_recheck(unsigned id) {
  if (!recheck) return;
  union queued_lock* lock = &descriptors[process_of(id)].lock;
  queue_lock(lock, waiting, id);
  queue_unlock(lock);
}

static void call(unsigned id) {
  unsigned process = process_of(id);
  struct file* range = &file[files == ONE ? 0 : id];
  uc_work((int64_t)work);
  owner_count(process, 1);
  while (!range_try(range, process + 1)) range_await(range);
  descriptor_recheck(id);
  uc_work((int64_t)work);
  range_unlock(range, process + 1);
  owner_count(process, -1);
}

void uc_finish(unsigned n) {
  uint64_t changes = 0, calls = uc_total_ops(n) + n * warmup;
  for (uint64_t i = 0; i < chains; i++) {
    uc_check(chain_at(i)->records == 0, "an owner kept records of locks it gave back");
    changes += chain_at(i)->changes;
  }
  uc_check(owners == NO_TABLE || changes == 2 * calls, "a change of an owner was lost");
}
