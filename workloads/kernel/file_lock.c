// Advisory file locks (fcntl): each task locks a byte range and unlocks it again.
//
// A lock is a record in a list of its file. FreeBSD also keeps a record of each lock's owner, the
// process, in a hash table. A lock call takes a reference to its owner's record, and makes the
// record if there is none (one access to the table). An unlock call takes one for its own request,
// and later drops two: that of the lock it removes and that of its request (three accesses). The
// call that drops the last reference frees the record. Each access takes the table's lock, an sx
// (lf_advlockasync, lf_activate_lock and lf_free_lock in kern/kern_lockf.c of FreeBSD 11 and 12.0).
//
//   global  FreeBSD 11 has one lock for the table. It also lists the files that have locks: the
//           first lock adds its file, the last unlock removes it, under a second lock of the system
//           (lf_lock_states_lock, the same file). A task that is granted a lock also takes the lock
//           of the graph of owners that wait for each other, to see whether others now wait for it
//           (lf_owner_graph_lock in lf_setlock)
//   hashed  FreeBSD 12 has a lock for each chain, several in one line, and leaves a file on the
//           list until its vnode is reused; only tasks that wait take the graph's lock. The chain
//           is found by the vnode's address (lf_hash_owner): vnodes of 480 bytes, eight in a page,
//           use only 64 of the 256 chains
//   none    Linux has no such table
//
// With hashed or none, tasks with separate files seldom contend, and throughput rises with cores.
//
// After locking, Linux looks up the descriptor again, in case another thread has closed it, under
// the lock of the process's table of descriptors (`recheck`; fcntl_setlk in fs/locks.c of 4.15):
// there threads of one process contend, although their files are separate.
//
// With `files` one all tasks lock the same range of one file: it is a lock held across two system
// calls, for which all other processes wait. Threads of one process never wait for each other,
// because they are one owner.
//
// One operation is two system calls; will-it-scale counts them as two.
//
// Check: a range has one owner at a time, and at the end no owner has a record.
#include "calls.h"
#include "process.h"
#include "queued_lock.h"
#include "spinlock.h"
#include "sx.h"
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
UC_PARAM(u64, table_work, 50, "instructions",
         "of them in addition, under the table's lock: an owner's record is made, or freed");

#define VNODE 480  // bytes
#define PAGE 4096

struct chain {
  struct sx lock;
  uint32_t owners;   // number of owners that have a record
  uint32_t changes;  // number of changes of `owners`; counted because errors in that may cancel
};
static char* table;

// An owner's record counts the locks and requests that refer to it.
static struct owner {
  UC_ALIGNED uint64_t references;
}* records;

// A file, its place in the list of files that have locks, and the one range that is ever locked.
struct file {
  UC_ALIGNED struct file *next, **link;
  struct spinlock lock;
  _Atomic uint64_t owner;  // process plus one; 0: not locked
  uint64_t holds;          // how often the owner's threads have locked it
};
static struct file* file;

static struct listed {
  UC_ALIGNED struct sx lock;
  struct file* first;
}* listed;

// The graph of owners that wait for each other; it stays empty here.
static struct graph {
  UC_ALIGNED struct sx lock;
}* graph;

// A process's table of descriptors, and a task's place in its lock's queue.
static struct descriptors {
  UC_ALIGNED union queued_lock lock;
}* descriptors;
static struct queue_node* waiting;

static struct chain* chain_at(uint64_t index) {
  return (struct chain*)(table + index * chain_stride);
}

void uc_setup(unsigned n) {
  uc_require(chains && chain_stride >= sizeof(struct chain) && chain_stride % 8 == 0,
             "a table has a chain or more, each a multiple of 8 bytes, at least 40");
  table = uc_alloc(chains * chain_stride, 0);
  for (uint64_t i = 0; i < chains; i++) sx_init(&chain_at(i)->lock, n);
  records = uc_alloc((n > chains ? n : chains) * sizeof *records, 0);
  file = uc_alloc(n * sizeof *file, 0);
  listed = uc_alloc(sizeof *listed, 0);
  sx_init(&listed->lock, n);
  graph = uc_alloc(sizeof *graph, 0);
  sx_init(&graph->lock, n);
  descriptors = uc_alloc(n * sizeof *descriptors, 0);
  waiting = uc_alloc(n * sizeof *waiting, 0);
}

// ---- The owner's record -------------------------------------------------------------------------

// Returns the file's chain, from a vnode address made of a random page and slot in it.
static uint64_t chain_of(uint64_t file_number) {
  if (owners == GLOBAL) return 0;
  uint64_t chance = (file_number + 1) * 0x9E3779B97F4A7C15ull >> 32;
  uint64_t place = chance % (PAGE / VNODE), page = chance / (PAGE / VNODE);
  return (page * PAGE + place * VNODE) / 128 % chains;
}

// Returns the record of the task's process, which is one owner, in the chain of one of its files.
static struct owner* record_of(unsigned id, uint64_t chain) {
  return &records[owners == HASHED && tasks == THREADS ? chain : process_of(id)];
}

static void chain_count(struct chain* chain, int amount) {
  uint32_t known = chain->owners;
  uc_work((int64_t)table_work);
  chain->owners = known + (uint32_t)amount;
  chain->changes++;
}

static void owner_change(unsigned id, uint64_t file_number, int amount) {
  if (owners == NO_TABLE) return;
  uint64_t index = chain_of(file_number);
  struct chain* chain = chain_at(index);
  struct owner* record = record_of(id, index);
  if (!UC_SABOTAGE) sx_xlock(&chain->lock);
  uint64_t before = record->references;
  record->references += (uint64_t)amount;
  if (!before || !record->references) chain_count(chain, amount);
  if (!UC_SABOTAGE) sx_xunlock(&chain->lock);
}

// ---- The list of files --------------------------------------------------------------------------

// Returns whether files enter and leave the list. A file shared by all always has a lock.
static bool lists(void) { return owners == GLOBAL && files == SEPARATE; }

static void file_list(struct file* file) {
  if (!lists()) return;
  sx_xlock(&listed->lock);
  file->next = listed->first;
  if (file->next) file->next->link = &file->next;
  listed->first = file;
  file->link = &listed->first;
  sx_xunlock(&listed->lock);
}

static void file_unlist(struct file* file) {
  if (!lists()) return;
  sx_xlock(&listed->lock);
  if (file->next) file->next->link = file->link;
  *file->link = file->next;
  sx_xunlock(&listed->lock);
}

// ---- The range ----------------------------------------------------------------------------------

static void graph_look(void) {
  if (owners != GLOBAL) return;
  sx_xlock(&graph->lock);
  sx_xunlock(&graph->lock);
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

static void lock_range(unsigned id, uint64_t number) {
  uc_work((int64_t)work);
  owner_change(id, number, 1);
  file_list(&file[number]);
  while (!range_try(&file[number], process_of(id) + 1)) range_await(&file[number]);
  graph_look();
  descriptor_recheck(id);
}

static void unlock_range(unsigned id, uint64_t number) {
  uc_work((int64_t)work);
  owner_change(id, number, 1);
  range_unlock(&file[number], process_of(id) + 1);
  owner_change(id, number, -1);  // drops the reference of the range that was locked
  owner_change(id, number, -1);  // drops the reference of the request to unlock it
  file_unlist(&file[number]);
}

static void call(unsigned id) {
  uint64_t number = files == ONE ? 0 : id;
  lock_range(id, number);
  unlock_range(id, number);
}

void uc_finish(unsigned n) {
  uint64_t changes = 0, calls = uc_total_ops(n) + n * first_calls;
  for (uint64_t i = 0; i < chains; i++) {
    uc_check(chain_at(i)->owners == 0, "an owner kept records of locks it gave back");
    changes += chain_at(i)->changes;
  }
  bool own = owners != NO_TABLE && tasks == PROCESSES;  // each call makes and frees a record
  uc_check(!own || changes == 2 * calls, "a change of an owner was lost");
  uc_check(!listed->first, "a file without a lock is listed");
}
