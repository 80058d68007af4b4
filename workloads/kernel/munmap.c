// mmap and munmap: when may the page of a mapping that was removed be used again?
//
// The kernel removes a mapping by clearing its page table entry first and invalidating the TLBs
// later, for many pages at once. In between, another CPU may still write through its TLB to a page
// that seems unmapped. FreeBSD calls this interval delayed invalidation (DI): munmap begins and
// ends one, and a task that wants to reuse a page waits until all open intervals have ended.
//
// FreeBSD keeps the open intervals in a list under a mutex (invalidation.h): a million munmaps a
// second on 96 threads, most of which wait. Macy (2018) replaced it by an epoch and measured 3.5
// times as many. The remaining bottleneck was the count of reserved swap (swap_account.h), in mmap
// and munmap. A mapping also refers to its process's credential (kernel/brk.c).
//
// After every `reuse` calls a task reuses a page that its neighbour has unmapped.
//
// Check: when a page is reused, no TLB has a translation to it, and the swap count is 0 at the
// end.
#define CREDENTIAL 1
#include "calls.h"
#include "invalidation.h"
#include "swap_account.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path mmap and munmap: delayed invalidation, mutex or epoch");
UC_PARAM(u64, reuse, 8, "calls", "a task reuses its neighbour's page after so many; 0: never");
UC_PARAM(u64, work, 1000, "instructions", "private work of mmap and munmap outside the interval");
UC_PARAM(u64, interval_work, 900, "instructions", "of them in addition, in the interval");

// A task's page: how often its mapping was removed, how often all TLBs have dropped it, and the
// generation in which it was removed last.
static struct task {
  UC_ALIGNED _Atomic uint64_t removed, forgotten, removed_in;
  UC_ALIGNED uint64_t calls;
}* all_tasks;

static unsigned tasks_in_all;

void uc_setup(unsigned n) {
  account_setup(n);
  interval_setup(n);
  all_tasks = uc_alloc(n * sizeof *all_tasks, 0);
  tasks_in_all = n;
}

// Call times vary, because tasks of equal times would run in lockstep and never collide.
static void map_page(struct task* self, unsigned id) {
  uint64_t hash = (self->calls * UC_MAX_HARTS + id) * 0x9E3779B97F4A7C15ull >> 32;
  account_change(id, 1);
  credential_hold();
  uc_work((int64_t)(work / 4 + hash % (work / 2 + 1)));
}

static void unmap_page(unsigned id) {
  struct task* self = &all_tasks[id];
  uint64_t times = atomic_load_explicit(&self->removed, memory_order_relaxed) + 1;
  uc_work((int64_t)work / 2);
  interval_begin(id);
  atomic_store_explicit(&self->removed_in, interval_generation(&interval_of[id]),
                        memory_order_relaxed);
  atomic_store_explicit(&self->removed, times, memory_order_release);
  uc_work((int64_t)interval_work);
  atomic_store_explicit(&self->forgotten, times, memory_order_release);
  interval_end(id);
  account_change(id, -1);
  credential_free();
}

// Waits before it uses the page: an unmapped page may still be in some TLB.
static void reuse_page(struct task* owner) {
  uint64_t removed = atomic_load_explicit(&owner->removed, memory_order_acquire);
  interval_await(atomic_load_explicit(&owner->removed_in, memory_order_relaxed));
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
  credential_check(0);
  account_check(0, 2 * (uc_total_ops(n) + n * first_calls));
}
