// FreeBSD's preemptible epoch: a reader may be switched out inside its section.
//
// This is epoch_enter_preempt(9) by Macy (2018). Several threads of one hart can be inside sections
// at once, each with a tracker on its stack. The hart's record announces the epoch of the oldest
// section; when that ends, of the next oldest. A thread in a section is pinned to its hart, so this
// is private to the hart. But a waiter for the grace period could wait long for a section whose
// thread does not run. So, as in the kernel, the waiter spins while the section's thread runs;
// otherwise it moves to its hart, raises its priority and lets it run.
//
// Each hart but the updater's has `readers` threads; every `preempt_every`th section is switched
// out in the middle.
//
// Check: as in reclaim.h.
#include "epoch.h"
#include "reclaim.h"
#include "scheduler.h"

UC_WORKLOAD("FreeBSD's preemptible epoch: sections that may be switched out in the middle");
UC_PARAM(u64, readers, 2, "threads", "that read, on each hart but the updater's");
UC_PARAM(u64, preempt_every, 4, "sections", "of which one is switched out in the middle; 0: none");

#define WAITED_FOR (UC_PRIORITY_NORMAL - 1)  // priority of a reader that the updater waits for

// A section of one thread, while the thread is inside it.
struct tracker {
  UC_ALIGNED struct tracker *older, *younger;
  _Atomic(struct uc_thread*) thread;  // atomic, because waiters on other harts read it
  uint64_t entered;                   // the epoch in which it entered
  uint64_t sections;
};

// The open sections of one hart, oldest first. Waiters on other harts read only `oldest`; trackers
// are never freed, so what they find there is always a tracker.
static struct inside {
  UC_ALIGNED _Atomic(struct tracker*) oldest;
  struct tracker* youngest;
}* inside;

static struct epoch* epoch;  // one epoch record per hart
static struct tracker* trackers;

static void scheme_setup(unsigned n) {
  uc_sched_setup(n);
  epoch = epoch_make(n, 0);
  inside = uc_alloc(n * sizeof *inside, 0);
  trackers = uc_alloc(n * readers * sizeof *trackers, 0);
}

static struct tracker* oldest_inside(unsigned hart) {
  return atomic_load_explicit(&inside[hart].oldest, memory_order_acquire);
}

// ---- Readers ------------------------------------------------------------------------------------

static void enter_preempt(struct tracker* self, unsigned hart) {
  struct inside* sections = &inside[hart];
  if (!oldest_inside(hart)) epoch_announce(epoch, &epoch->record[hart]);
  self->entered = epoch_now(epoch);  // if later than the announced one, waits get longer
  atomic_store_explicit(&self->thread, uc_thread_self(), memory_order_relaxed);
  self->older = sections->youngest;
  self->younger = NULL;
  sections->youngest = self;
  if (self->older)
    self->older->younger = self;
  else
    atomic_store_explicit(&sections->oldest, self, memory_order_release);
}

// Announces the epoch of the next oldest section, which releases those that waited for the oldest.
static void oldest_leaves(struct inside* sections, unsigned hart, struct tracker* next) {
  uint64_t announced = next ? 2 * next->entered + 1 : 0;
  atomic_store_explicit(&sections->oldest, next, memory_order_relaxed);
  if (UC_SABOTAGE) return;
  atomic_store_explicit(&epoch->record[hart].announced, announced, memory_order_release);
}

static struct uc_thread* thread_of(struct tracker* tracker) {
  return atomic_load_explicit(&tracker->thread, memory_order_relaxed);
}

static void exit_preempt(struct tracker* self, unsigned hart) {
  struct inside* sections = &inside[hart];
  if (self->younger)
    self->younger->older = self->older;
  else
    sections->youngest = self->older;
  if (self->older)
    self->older->younger = self->younger;
  else
    oldest_leaves(sections, hart, self->younger);
  uc_thread_lend(thread_of(self), UC_PRIORITY_NORMAL);  // gives back the priority a waiter lent
}

static struct object* reader_get(unsigned reader) {
  struct tracker* self = &trackers[reader];
  enter_preempt(self, (unsigned)(reader / readers));
  struct object* object = atomic_load_explicit(current, memory_order_acquire);
  if (preempt_every && ++self->sections % preempt_every == 0) {
    uint64_t found = life(object);
    uc_yield();
    uc_check(life(object) == found, "an object was freed while its reader was switched out");
  }
  return object;
}

static void reader_put(unsigned reader) {
  exit_preempt(&trackers[reader], (unsigned)(reader / readers));
}

// ---- The updater --------------------------------------------------------------------------------

static bool runs(struct tracker* tracker) {
  return tracker && uc_thread_running(thread_of(tracker));
}

static void wait_for(unsigned hart, uint64_t now) {
  while (epoch_lags(epoch, hart, now)) {
    if (hart != uc_id()) {
      while (epoch_lags(epoch, hart, now) && runs(oldest_inside(hart))) uc_pause();
      if (epoch_lags(epoch, hart, now)) uc_thread_migrate(uc_cpuset_one(hart));
    } else {
      uc_thread_lend(thread_of(oldest_inside(hart)), WAITED_FOR);
      uc_yield();
    }
  }
}

static void epoch_wait_preempt(void) {
  atomic_thread_fence(memory_order_seq_cst);
  uint64_t goal = epoch_now(epoch) + EPOCH_GRACE;
  for (uint64_t now; (now = epoch_now(epoch)) < goal; epoch_step(epoch, now)) {
    atomic_thread_fence(memory_order_seq_cst);
    for (unsigned hart = 0; hart < epoch->records; hart++) wait_for(hart, now);
  }
}

static void retire(struct deferred* deferred) { epoch_call(epoch, 0, deferred, object_free); }

static void poll(bool wait) {
  if (wait)
    epoch_wait_preempt();
  else
    uc_yield();
  epoch_poll(epoch, 0);
}

// ---- Threads ------------------------------------------------------------------------------------

static void read_thread(void* argument) { read_loop((unsigned)(uint64_t)argument, loop_plan()); }

static void update_thread(void* argument) {
  (void)argument;
  update_loop();
  free_the_rest();
}

void uc_main(unsigned id, unsigned n) {
  for (uint64_t i = 0; i < readers && (id || n == 1); i++)
    uc_thread_create(read_thread, (void*)(id * readers + i), uc_cpuset_one(id));
  if (id == 0) uc_thread_create(update_thread, NULL, uc_cpuset_one(0));
  uc_barrier();
  uc_roi(true);
  uc_sched_run();
  uc_roi(false);
}
