// mmap and munmap: when may the page of a mapping that was removed be used again?
//
// Who removes a mapping clears its page table entry first and invalidates the TLBs later, for many
// pages at once. In between, another CPU may still write through its TLB to a page that looks
// unmapped. FreeBSD calls the interval delayed invalidation (DI): munmap begins and ends one, and
// whoever wants to reuse a page waits until the intervals that were open have ended.
//
//   mutex  intervals stand in a list with generation numbers, under one global mutex, which every
//          munmap takes twice: a million munmaps a second on 96 threads, most of them waiting
//   epoch  an interval is a section of an epoch: a private store at its beginning and its end;
//          reusing waits for the epoch. Macy (2018) measured 3.5 times as many munmaps
//
// What then remains is the count of reserved swap, one atomic add at mmap and one at munmap.
//
// With `reuse` a task takes, after so many calls, a page that its neighbour has removed.
//
// Check: a page that is reused can no longer be written through anybody's TLB; the swap count is 0
// at the end.
#include "calls.h"
#include "epoch.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path mmap and munmap: delayed invalidation, mutex or epoch");
enum invalidation { MUTEX, EPOCH };
UC_PARAM(choice, invalidation, MUTEX, "mutex|epoch", "how open intervals are known");
UC_PARAM(u64, reuse, 8, "calls", "a task reuses its neighbour's page after so many; 0: never");
UC_PARAM(u64, work, 1000, "instructions", "private work of mmap and munmap outside the interval");
UC_PARAM(u64, interval_work, 900, "instructions", "of them in addition, in the interval");

static struct task {
  UC_ALIGNED _Atomic uint64_t generation;  // of its open interval
  struct task *next, *previous;            // in the list of open intervals, youngest first
  // Its page: how often its mapping was removed, how often all TLBs have forgotten it since, and
  // the generation in which it was removed last.
  UC_ALIGNED _Atomic uint64_t removed, forgotten, removed_in;
  UC_ALIGNED uint64_t calls;
}* all_tasks;

// The open intervals, under a mutex. A generation is over when all intervals up to it are.
static struct intervals {
  UC_ALIGNED struct spinlock lock;
  struct task *youngest, *oldest;
  UC_ALIGNED _Atomic uint64_t over;
}* intervals;

static struct epoch* epoch;
static _Atomic int64_t* swap;
static unsigned tasks_in_all;

void uc_setup(unsigned n) {
  all_tasks = uc_alloc(n * sizeof *all_tasks, 0);
  intervals = uc_alloc(sizeof *intervals, 0);
  swap = uc_alloc(sizeof *swap, 0);
  epoch = epoch_make(n, 0);
  tasks_in_all = n;
}

// ---- Intervals ----------------------------------------------------------------------------------

static uint64_t generation(struct task* task) {
  return atomic_load_explicit(&task->generation, memory_order_relaxed);
}

static void generation_set(struct task* task, uint64_t number) {
  atomic_store_explicit(&task->generation, number, memory_order_relaxed);
}

static void list_begin(struct task* self) {
  spin_lock(&intervals->lock);
  struct task* youngest = intervals->youngest;
  uint64_t over = atomic_load_explicit(&intervals->over, memory_order_relaxed);
  generation_set(self, (youngest ? generation(youngest) : over) + 1);
  self->next = youngest;
  self->previous = NULL;
  if (youngest)
    youngest->previous = self;
  else
    intervals->oldest = self;
  intervals->youngest = self;
  spin_unlock(&intervals->lock);
}

// The oldest interval's end is the end of its generation; another one's is passed on to the next
// older one, which covers it from then on.
static void list_end(struct task* self) {
  spin_lock(&intervals->lock);
  struct task *older = self->next, *younger = self->previous;
  if (older)
    generation_set(older, generation(self));
  else
    atomic_store_explicit(&intervals->over, generation(self), memory_order_release);
  *(younger ? &younger->next : &intervals->youngest) = older;
  *(older ? &older->previous : &intervals->oldest) = younger;
  spin_unlock(&intervals->lock);
}

static void interval_begin(unsigned id) {
  if (invalidation == EPOCH)
    epoch_enter(epoch, id);
  else if (!UC_SABOTAGE)
    list_begin(&all_tasks[id]);
}

static void interval_end(unsigned id) {
  if (invalidation == EPOCH)
    epoch_exit(epoch, id);
  else if (!UC_SABOTAGE)
    list_end(&all_tasks[id]);
}

// Returns when no interval is open in which a task's page may have been removed.
static void intervals_await(struct task* owner) {
  if (invalidation == EPOCH) {
    epoch_wait(epoch);
    return;
  }
  uint64_t removed_in = atomic_load_explicit(&owner->removed_in, memory_order_relaxed);
  if (UC_SABOTAGE) return;
  while (atomic_load_explicit(&intervals->over, memory_order_acquire) < removed_in) uc_pause();
}

// ---- The paths ----------------------------------------------------------------------------------

static void reserve_swap(int64_t pages) {
  atomic_fetch_add_explicit(swap, pages, memory_order_relaxed);
}

// No two calls take the same time, or tasks that wait for nothing would keep step for ever.
static void map_page(struct task* self, unsigned id) {
  uint64_t hash = (self->calls * UC_MAX_HARTS + id) * 0x9E3779B97F4A7C15ull >> 32;
  reserve_swap(1);
  uc_work((int64_t)(work / 4 + hash % (work / 2 + 1)));
}

static void unmap_page(unsigned id) {
  struct task* self = &all_tasks[id];
  uint64_t times = atomic_load_explicit(&self->removed, memory_order_relaxed) + 1;
  uc_work((int64_t)work / 2);
  interval_begin(id);
  atomic_store_explicit(&self->removed_in, generation(self), memory_order_relaxed);
  atomic_store_explicit(&self->removed, times, memory_order_release);
  uc_work((int64_t)interval_work);
  atomic_store_explicit(&self->forgotten, times, memory_order_release);
  interval_end(id);
  reserve_swap(-1);
}

// A page that is seen to be unmapped is not yet one that may be used.
static void reuse_page(struct task* owner) {
  uint64_t removed = atomic_load_explicit(&owner->removed, memory_order_acquire);
  intervals_await(owner);
  uint64_t forgotten = atomic_load_explicit(&owner->forgotten, memory_order_acquire);
  uc_check(forgotten >= removed, "a page was reused while a TLB still knew it");
}

static void call(unsigned id) {
  struct task* self = &all_tasks[id];
  self->calls++;
  map_page(self, id);
  unmap_page(id);
  if (reuse && self->calls % reuse == 0) reuse_page(&all_tasks[(id + 1) % tasks_in_all]);
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(*swap == 0, "reserved swap was lost");
}
