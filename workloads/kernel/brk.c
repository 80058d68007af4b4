// brk: the heap grows by a page and shrinks again; each time the whole system counts it.
//
// A page of heap needs no memory yet, but a promise of swap space. The process's map is locked
// (private to a process, shared by its threads), then the page is counted for the system and for
// the user who owns it. How these two counters are kept decides everything:
//
//   mutex   each under its mutex, one after the other, as in FreeBSD 11: four handoffs a call
//   atomic  each with an atomic add whose result is compared with the limit: FreeBSD 12
//   percpu  in parts, folded in batches: Linux's vm_committed_as; no line is shared in most calls
//
// Macy (2018) measured 32 times as many calls on Linux at 128 threads; the will-it-scale curves of
// FreeBSD peak at four tasks, within one L3, and Linux's rises with the cores. Threads instead of
// processes meet at the map's lock in every system.
//
// Check: at the end the counters hold exactly the pages of all heaps, and no heap lost a change.
#include "calls.h"
#include "percpu_counter.h"
#include "process.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path brk: address space lock and swap accounting");
enum accounting { MUTEX, ATOMIC, PERCPU };
UC_PARAM(choice, accounting, MUTEX, "mutex|atomic|percpu", "how reserved pages are counted");
UC_PARAM(u64, batch, 32, "pages", "accounting=percpu: fold a part when it reaches this");
UC_PARAM(u64, work, 400, "instructions", "entry, exit and private work of one call");
UC_PARAM(u64, map_work, 250, "instructions", "of them in addition, under the map's lock");

#define LIMIT (1ll << 40)  // pages of swap: never reached

// A count of pages that all harts share, with whatever guards it, on one line.
static struct account {
  UC_ALIGNED struct spinlock lock;
  _Atomic int64_t pages;
  uint64_t changes;  // under the lock: what was added wrongly may have been taken away wrongly
} *swap, *user;
static struct percpu_counter* parts;

static struct process {
  UC_ALIGNED struct spinlock lock;
  int64_t heap;  // pages
}* processes;

// Whether a task's next call shrinks the heap.
static struct task {
  UC_ALIGNED bool grown;
}* task_of;

void uc_setup(unsigned n) {
  swap = uc_alloc(sizeof *swap, 0);
  user = uc_alloc(sizeof *user, 0);
  parts = percpu_counter_make(n, UC_BLOCK, 0);
  processes = uc_alloc(n * sizeof *processes, 0);
  task_of = uc_alloc(n * sizeof *task_of, 0);
}

static void charge_locked(struct account* account, int64_t pages) {
  if (!UC_SABOTAGE) spin_lock(&account->lock);
  int64_t sum = atomic_load_explicit(&account->pages, memory_order_relaxed) + pages;
  if (sum <= LIMIT) atomic_store_explicit(&account->pages, sum, memory_order_relaxed);
  account->changes++;
  if (!UC_SABOTAGE) spin_unlock(&account->lock);
}

static void charge_atomically(struct account* account, int64_t pages) {
  int64_t before = atomic_fetch_add_explicit(&account->pages, pages, memory_order_relaxed);
  if (before + pages > LIMIT)
    atomic_fetch_sub_explicit(&account->pages, pages, memory_order_relaxed);
}

static void charge(unsigned id, int64_t pages) {
  if (accounting == PERCPU) {
    percpu_counter_add(parts, id, pages, (int64_t)batch);
  } else if (accounting == ATOMIC) {
    charge_atomically(swap, pages);
    charge_atomically(user, pages);
  } else {
    charge_locked(swap, pages);
    charge_locked(user, pages);
  }
}

static void call(unsigned id) {
  struct process* process = &processes[process_of(id)];
  struct task* self = &task_of[id];
  int64_t pages = self->grown ? -1 : 1;
  self->grown = !self->grown;
  uc_work((int64_t)work);
  spin_lock(&process->lock);
  charge(id, pages);
  uc_work((int64_t)map_work);
  process->heap += pages;
  spin_unlock(&process->lock);
}

void uc_finish(unsigned n) {
  int64_t heaps = 0, grown = 0;
  for (unsigned i = 0; i < n; i++) {
    heaps += processes[i].heap;
    grown += task_of[i].grown;
  }
  uc_check(heaps == grown, "a heap lost a change");
  bool percpu = accounting == PERCPU;
  uc_check((percpu ? percpu_counter_sum(parts) : swap->pages) == heaps, "swap was lost");
  uc_check(percpu || user->pages == heaps, "the user's account is wrong");
  uint64_t calls = uc_total_ops(n) + n * warmup;
  uc_check(accounting != MUTEX || swap->changes == calls, "a change of the account was lost");
}
