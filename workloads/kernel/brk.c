// brk, or mmap and munmap: a process's memory grows by a page and shrinks again.
// Each change is counted in counters of the whole system.
//
// A new page takes no memory yet, but swap space is reserved for it, which is counted for the
// system and for the user (swap_account.h): in FreeBSD 11 under mutexes, in 12 by atomic adds, in
// Linux by counters per CPU. During the change the process's map is locked (`map`), which is
// private to a process and shared by its threads.
//
// In FreeBSD an entry of the map refers to the credential (crhold in vm_map_insert, crfree in
// vm_map_entry_delete, in vm/vm_map.c of 11.2 and 12), which processes inherit: a third line that
// all of them write (`credential`). A deleted range is unmapped in an interval of delayed
// invalidation (invalidation.h; pmap_remove in vm_map_delete): in 11 always, in 12 only if the
// range's object may have pages. Here it has none, because no page is ever touched.
//
// A range that follows memory of the same kind has no entry of its own. It becomes a part of the
// preceding entry and its object (vm_object_coalesce), and is cut off again when it is deleted
// (vm_map_clip_start). Then there is no reference to the credential, but the object is locked when
// the range is added, when it is cut off, when its swap is released, and after the map has been
// unlocked (vm_map_process_deferred). Threads take this path: before the heap is the program's
// zeroed data, before a mapping another thread's. In a forked process these are copy-on-write
// (vm_map_copy_entry), which is another kind, so that ranges have entries.
//
// Threads of one process share one break (`range` heap). brk1 of will-it-scale sets it a page
// higher and back, so a thread may ask for the break that another has just set; then the call only
// takes the lock (kern_break in FreeBSD 12's vm/vm_unix.c, sys_brk in Linux 4.15's mm/mmap.c). The
// C library keeps the break in a variable that all threads write. FreeBSD's mmap first checks the
// process's limits under its mutex (vm_mmap_object in 11's vm/vm_mmap.c).
//
// Macy (2018) measured 32 times as many calls a second on Linux at 128 threads. The will-it-scale
// curves of FreeBSD peak at four tasks, within one L3, and Linux's rises with the cores. With
// threads instead of processes all systems contend for the map's lock.
//
// Check: at the end the counters hold exactly the pages of all processes, and none lost a change.
#define CREDENTIAL 1
#include "calls.h"
#include "credential.h"
#define INVALIDATION DI_NONE
#include "invalidation.h"
#include "process.h"
#include "rwlock.h"
#include "rwsem.h"
#include "swap_account.h"
#include "sx.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path brk, mmap, munmap: address space lock and swap accounting");
enum range { HEAP, MAPPING };
UC_PARAM(choice, range, HEAP, "heap|mapping",
         "what grows and shrinks: a process's heap, or a mapping that is the task's own");
enum map { SX, RWSEM };
UC_PARAM(choice, map, SX, "sx|rwsem", "the map's lock: FreeBSD's or Linux's");
UC_PARAM(u64, map_lines, 4, "lines", "of the map and its entries, written under its lock");
UC_PARAM(u64, work, 650, "instructions",
         "private work of one call, half of it under the map's lock");

static struct process {
  UC_ALIGNED union {
    struct sx sx;
    struct rwsem rwsem;
  } lock;
  UC_ALIGNED int64_t pages;  // size of the range; guarded by the map's lock
  uint64_t locked, changes;
  struct map_line {
    UC_ALIGNED uint64_t changes;
  }* lines;
  UC_ALIGNED struct rwlock object;  // lock of the memory object that merged ranges share
  int64_t parts;
  UC_ALIGNED struct mtx limits;
  UC_ALIGNED _Atomic int64_t known_break, lowest;  // the C library's variables
}* processes;

static struct task {
  UC_ALIGNED bool grown;  // the last call grew the range, and the next one shrinks it
  int64_t base;           // the heap's break when this task started, in pages
  int64_t added;
  struct mcs_node waiting;
}* task_of;

// Threads start one after another, so each starts with a break that an earlier one has set.
static void find_breaks(unsigned n) {
  for (unsigned i = 1; i < n; i++) {
    uint64_t hash = i * 0x9E3779B97F4A7C15ull >> 32;
    task_of[i].base = task_of[hash % i].base + (int64_t)(hash >> 31);
  }
}

void uc_setup(unsigned n) {
  account_setup(n);
  interval_setup(n);
  processes = uc_alloc(n * sizeof *processes, 0);
  task_of = uc_alloc(n * sizeof *task_of, 0);
  for (unsigned i = 0; i < n; i++) {
    if (map == SX) sx_init(&processes[i].lock.sx, n);
    rw_init(&processes[i].object, n);
    processes[i].lines = uc_alloc(map_lines * sizeof(struct map_line) + 1, uc_node_of(i));
  }
  if (range == HEAP && tasks == THREADS) find_breaks(n);
}

// ---- A range with an entry of its own, or merged with the range before it -----------------------

// Both are for FreeBSD. Linux's entries have no credential; how they merge was not examined.
static bool has_entry(void) { return accounting != PERCPU && tasks == PROCESSES; }
static bool merges(void) { return accounting != PERCPU && tasks == THREADS; }

static void change_entry(unsigned id, int64_t pages) {
  if (pages < 0) {
    interval_begin(id);
    interval_end(id);
  }
  account_change(id, pages);
  if (!has_entry()) return;
  if (pages > 0)
    credential_hold();
  else
    credential_free();
}

// Swap is reserved before the object is locked, and released while it is locked.
static void change_object(struct process* process, unsigned id, int64_t pages, int64_t parts) {
  if (pages > 0) account_change(id, pages);
  rw_wlock(&process->object);
  process->parts += parts;
  if (pages < 0) account_change(id, pages);
  rw_wunlock(&process->object);
}

// Not inlined, because forked processes never call it.
static __attribute__((noinline)) void change_merged(struct process* process, unsigned id,
                                                    int64_t pages) {
  if (pages < 0) {
    change_object(process, id, 0, 1);
    interval_begin(id);
    interval_end(id);
  }
  change_object(process, id, pages, 0);
}

// Runs after the map has been unlocked.
static __attribute__((noinline)) void forget_part(struct process* process, unsigned id) {
  change_object(process, id, 0, -1);
}

// ---- A call -------------------------------------------------------------------------------------

static void map_lock(struct process* process, struct task* self) {
  if (map == SX)
    sx_xlock(&process->lock.sx);
  else
    rwsem_write_lock(&process->lock.rwsem, &self->waiting);
  process->locked++;
}

static void map_unlock(struct process* process) {
  if (map == SX)
    sx_xunlock(&process->lock.sx);
  else
    rwsem_write_unlock(&process->lock.rwsem);
}

static void change(struct process* process, unsigned id, int64_t pages) {
  if (merges())
    change_merged(process, id, pages);
  else
    change_entry(id, pages);
  uc_work((int64_t)work / 2);
  for (uint64_t i = 1; i < map_lines; i++) process->lines[i].changes++;
  process->pages += pages;
  process->changes++;
  task_of[id].added += pages;
}

// Returns the argument of the next brk(). FreeBSD's library does not go below the initial break.
static int64_t break_wanted(struct process* process, struct task* self) {
  int64_t wanted = self->base + !self->grown;
  if (map == RWSEM) return wanted;
  int64_t lowest = atomic_load_explicit(&process->lowest, memory_order_relaxed);
  return wanted < lowest ? lowest : wanted;
}

static __attribute__((noinline)) void check_limits(struct process* process) {
  mtx_lock(&process->limits);
  mtx_unlock(&process->limits);
}

static void call(unsigned id) {
  struct process* process = &processes[process_of(id)];
  struct task* self = &task_of[id];
  int64_t wanted = range == HEAP ? break_wanted(process, self) : 0;
  uc_work((int64_t)work / 2);
  if (range == MAPPING && map == SX && !self->grown) check_limits(process);
  map_lock(process, self);
  int64_t pages = range == HEAP ? wanted - process->pages : self->grown ? -1 : 1;
  if (pages) change(process, id, pages);
  map_unlock(process);
  if (merges() && pages < 0) forget_part(process, id);
  if (range == HEAP) atomic_store_explicit(&process->known_break, wanted, memory_order_relaxed);
  self->grown = !self->grown;
}

void uc_finish(unsigned n) {
  int64_t pages = 0, added = 0;
  uint64_t changes = 0;
  for (unsigned i = 0; i < n; i++) {
    pages += processes[i].pages;
    changes += processes[i].changes;
    added += task_of[i].added;
    uc_check(processes[i].parts == 0, "an object kept what was cut off");
  }
  uc_check(pages == added, "a process lost a change");
  credential_check(has_entry() ? pages : 0);
  account_check(pages, changes);
}
