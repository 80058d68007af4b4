// brk: the heap grows by a page and shrinks again; each time the whole system counts it.
//
// A page of heap needs no memory yet, but a promise of swap space, which is counted for the system
// and for the user (swap_account.h): FreeBSD 11 does it under mutexes, four handoffs a call, 12 by
// atomic adds, Linux in parts. A heap that shrinks is unmapped, in FreeBSD 11 in an interval of
// delayed invalidation (invalidation.h): two handoffs more. All of it happens with the process's
// map locked (`map`), which is private to a process and shared by its threads.
//
// mmap and munmap do the same, and in FreeBSD count a reference to the credential, too, which
// processes inherit (`credential`).
//
// Macy (2018) measured 32 times as many calls on Linux at 128 threads; the will-it-scale curves of
// FreeBSD peak at four tasks, within one L3, and Linux's rises with the cores. Threads instead of
// processes meet at the map's lock in every system.
//
// Check: at the end the counters hold exactly the pages of all heaps, and no heap lost a change.
#include "calls.h"
#include "credential.h"
#define INVALIDATION DI_NONE
#include "invalidation.h"
#include "process.h"
#include "rwsem.h"
#include "swap_account.h"
#include "sx.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path brk: address space lock and swap accounting");
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
  int64_t heap;  // pages
  struct map_line {
    UC_ALIGNED uint64_t changes;
  }* lines;
}* processes;

// Whether a task's next call shrinks the heap.
static struct task {
  UC_ALIGNED bool grown;
  struct mcs_node waiting;
}* task_of;

void uc_setup(unsigned n) {
  account_setup(n);
  interval_setup(n);
  credential_setup();
  processes = uc_alloc(n * sizeof *processes, 0);
  task_of = uc_alloc(n * sizeof *task_of, 0);
  for (unsigned i = 0; i < n; i++) {
    if (map == SX) sx_init(&processes[i].lock.sx, n);
    processes[i].lines = uc_alloc(map_lines * sizeof(struct map_line) + 1, uc_node_of(i));
  }
}

static void map_lock(struct process* process, struct task* self) {
  if (map == SX)
    sx_xlock(&process->lock.sx);
  else
    rwsem_write_lock(&process->lock.rwsem, &self->waiting);
}

static void map_unlock(struct process* process) {
  if (map == SX)
    sx_xunlock(&process->lock.sx);
  else
    rwsem_write_unlock(&process->lock.rwsem);
}

static void grow(unsigned id) {
  account_change(id, 1);
  credential_hold();
}

static void shrink(unsigned id) {
  interval_begin(id);
  interval_end(id);
  account_change(id, -1);
  credential_free();
}

static void call(unsigned id) {
  struct process* process = &processes[process_of(id)];
  struct task* self = &task_of[id];
  uc_work((int64_t)work / 2);
  map_lock(process, self);
  if (self->grown)
    shrink(id);
  else
    grow(id);
  uc_work((int64_t)work / 2);
  for (uint64_t i = 0; i < map_lines; i++) process->lines[i].changes++;
  process->heap += self->grown ? -1 : 1;
  map_unlock(process);
  self->grown = !self->grown;
}

void uc_finish(unsigned n) {
  int64_t heaps = 0, grown = 0;
  for (unsigned i = 0; i < n; i++) {
    heaps += processes[i].heap;
    grown += task_of[i].grown;
  }
  uc_check(heaps == grown, "a heap lost a change");
  credential_check(grown);
  account_check(heaps, uc_total_ops(n) + n * warmup);
}
