// The scheduler: a run queue for each hart, and the thread that the hart runs.
//
// It is a simple form of FreeBSD's 4BSD and ULE schedulers. A thread becomes ready in one hart's
// queue, under that queue's lock, and only that hart takes it from there. Three invariants:
//
// * No hart runs a thread whose registers are still being saved: the lock that guards the queue the
//   thread is in (a run or sleep queue) is released only by the next thread that its hart runs.
// * No wake-up is lost: a hart sets `idle` under its queue's lock after it found the queue empty,
//   and keeps interrupts off until wfi, which returns when an IPI is pending.
// * Each sleep takes one IPI at most: the hart that finds `idle` set clears it and sends the IPI.
#include "queues.h"

#define WAKE_REACH 16  // harts

struct runq {
  UC_ALIGNED struct uc_spin lock;
  bool idle;              // the hart sleeps, or is about to, and needs an IPI
  _Atomic unsigned load;  // threads of this hart, ready or running; read by harts that place one
  struct uc_threads ready;
  UC_ALIGNED struct uc_thread* current;
  struct uc_spin* held;  // lock to be released by the next thread that runs
  struct uc_thread* idler;
  const struct uc_cpuset* home;  // the set of this hart only
};

static struct runq* runqs;  // one for each hart

// Set once, then only read.
static struct settings {
  UC_ALIGNED unsigned harts;
  uint64_t switch_cost;
  bool poll;
}* settings;

static struct live {
  UC_ALIGNED _Atomic uint64_t threads;  // threads created and not ended
}* live;

struct uc_thread* uc_threads_take(struct uc_threads* queue, const void* channel) {
  struct uc_thread** best = NULL;
  unsigned urgency = UINT32_MAX;
  for (struct uc_thread** at = &queue->first; *at; at = &(*at)->next) {
    unsigned priority = atomic_load_explicit(&(*at)->priority, memory_order_relaxed);
    if ((*at)->channel == channel && priority < urgency) best = at, urgency = priority;
  }
  if (!best) return NULL;
  struct uc_thread* taken = *best;
  *best = taken->next;
  if (queue->end == &taken->next) queue->end = best;
  return taken;
}

// ---- Switching ----------------------------------------------------------------------------------

// Called by a thread when it starts or continues to run on a hart.
static void arrive(void) {
  struct uc_spin* held = runqs[uc_id()].held;
  if (held) spin_unlock(&held->lock);
}

static void switch_to(struct runq* queue, struct uc_thread* next, struct uc_spin* held) {
  struct uc_thread* self = queue->current;
  atomic_store_explicit(&self->running, 0, memory_order_relaxed);
  atomic_store_explicit(&next->running, 1, memory_order_relaxed);
  queue->current = next;
  queue->held = held;
  uc_delay(settings->switch_cost);
  uc_switch(&self->context, &next->context);
  arrive();
}

// Subtracts the current thread from its hart's load. Dequeues and returns the next thread.
static struct uc_thread* leave(struct runq* queue) {
  uc_spin_lock(&queue->lock);
  struct uc_thread* next = uc_threads_take(&queue->ready, NULL);
  atomic_fetch_sub_explicit(&queue->load, 1, memory_order_relaxed);
  uc_spin_unlock(&queue->lock);
  return next ? next : queue->idler;
}

void uc_block(struct uc_spin* held) {
  struct runq* queue = &runqs[uc_id()];
  switch_to(queue, leave(queue), held);
}

void uc_yield(void) {
  struct runq* queue = &runqs[uc_id()];
  uc_spin_lock(&queue->lock);
  bool interrupts = queue->lock.interrupts;
  struct uc_thread* self = queue->current;
  uc_threads_append(&queue->ready, self);
  struct uc_thread* next = uc_threads_take(&queue->ready, NULL);
  if (next == self)
    uc_spin_unlock(&queue->lock);
  else
    switch_to(queue, next, &queue->lock);
  uc_interrupts_restore(interrupts);
}

// ---- Idling -------------------------------------------------------------------------------------

// The thread that an idle hart runs, with interrupts on only for a moment in each iteration.
static void idle_loop(void* argument) {
  struct runq* queue = argument;
  for (;;) {
    uc_interrupts_off();
    uc_spin_lock(&queue->lock);
    struct uc_thread* next = uc_threads_take(&queue->ready, NULL);
    queue->idle = !next && !settings->poll;
    if (next) {
      switch_to(queue, next, &queue->lock);
      continue;
    }
    uc_spin_unlock(&queue->lock);
    if (!settings->poll && !atomic_load_explicit(&queue->load, memory_order_acquire))
      uc_sleep_until_interrupt();  // `load` is checked again before, as in FreeBSD's cpu_idle()
    uc_interrupts_restore(true);
    while (settings->poll && !atomic_load_explicit(&queue->load, memory_order_acquire)) uc_pause();
  }
}

// ---- Placing ------------------------------------------------------------------------------------

// Chooses the hart for a thread: the one on which it ran last if that is free, else the nearest
// free one, else the least loaded. Hart numbers follow the machine's tree, so the exclusive-or of a
// hart's number with 1, 2, ... visits its siblings first, then its cluster, its die and its socket.
// The search stops at distance `reach` if the thread may run on a hart found so far, because each
// read of a load is a cache miss (Linux's select_idle_sibling stays within one last-level cache).
static unsigned place(const struct uc_thread* thread, unsigned reach) {
  unsigned best = thread->hart, lightest = UINT32_MAX, harts = settings->harts;
  unsigned left = thread->cpuset ? (unsigned)thread->cpuset->size : harts;
  for (unsigned distance = 0; left && lightest && distance < UC_MAX_HARTS; distance++) {
    if (distance >= reach && lightest != UINT32_MAX) break;
    unsigned hart = thread->hart ^ distance;
    if (hart >= harts || !uc_cpuset_has(thread->cpuset, hart)) continue;
    left--;
    unsigned load = atomic_load_explicit(&runqs[hart].load, memory_order_relaxed);
    if (load < lightest) best = hart, lightest = load;
  }
  if (lightest == UINT32_MAX) uc_fatal("a thread may run on none of the harts, n = ", harts);
  return best;
}

// Puts a thread into the queue of a hart that it may run on. Returns the queue, locked.
static struct runq* enqueue(struct uc_thread* thread, unsigned reach) {
  struct runq* queue = &runqs[thread->hart = place(thread, reach)];
  uc_spin_lock(&queue->lock);
  uc_threads_append(&queue->ready, thread);
  atomic_fetch_add_explicit(&queue->load, 1, memory_order_release);
  return queue;
}

// Clears another hart's `idle`. Returns true if it was set; then the caller sends the IPI.
static bool must_wake(struct runq* queue, unsigned hart) {
  bool wake = queue->idle && hart != uc_id();
  if (wake) queue->idle = false;
  return wake;
}

static void make_ready(struct uc_thread* thread, unsigned reach) {
  struct runq* queue = enqueue(thread, reach);
  unsigned hart = thread->hart;  // read now: after the unlock the thread may move or end
  bool wake = must_wake(queue, hart);
  uc_spin_unlock(&queue->lock);
  if (wake) uc_ipi(hart);
}

void uc_ready(struct uc_thread* thread) { make_ready(thread, WAKE_REACH); }

void uc_thread_migrate(const struct uc_cpuset* cpuset) {
  bool interrupts = uc_interrupts_off();
  struct runq* from = &runqs[uc_id()];
  struct uc_thread *self = from->current, *next = leave(from);
  self->cpuset = cpuset;
  struct runq* to = enqueue(self, WAKE_REACH);
  if (must_wake(to, self->hart)) uc_ipi(self->hart);  // the woken hart waits for the lock
  switch_to(from, next, &to->lock);
  uc_interrupts_restore(interrupts);
}

// ---- Threads ------------------------------------------------------------------------------------

static struct uc_thread* make(void (*body)(void*), void* argument, const struct uc_cpuset* cpuset) {
  struct uc_thread* thread = uc_alloc(sizeof *thread, 0);
  thread->body = body;
  thread->argument = argument;
  thread->cpuset = cpuset;
  uc_thread_prioritize(thread, UC_PRIORITY_NORMAL);
  return thread;
}

static struct uc_thread* make_with_stack(void (*body)(void*), void* argument,
                                         const struct uc_cpuset* cpuset) {
  struct uc_thread* thread = make(body, argument, cpuset);
  thread->context.ra = (uint64_t)uc_thread_begin;
  thread->context.sp = (uint64_t)uc_alloc(UC_THREAD_STACK, 0) + UC_THREAD_STACK;
  thread->context.s[0] = (uint64_t)thread;
  return thread;
}

// Wakes all harts when all threads have ended. Each hart waits on its own channel, its run queue,
// because all of them begin to wait at the same time.
static void wake_all(void) {
  for (unsigned hart = 0; hart < settings->harts; hart++) uc_wakeup(&runqs[hart]);
}

_Noreturn void uc_thread_main(struct uc_thread* self) {
  arrive();
  uc_interrupts_restore(true);
  self->body(self->argument);

  if (atomic_fetch_sub_explicit(&live->threads, 1, memory_order_acq_rel) == 1) wake_all();
  uc_interrupts_off();
  uc_block(NULL);
  __builtin_unreachable();
}

struct uc_thread* uc_thread_create(void (*body)(void*), void* argument,
                                   const struct uc_cpuset* cpuset) {
  struct uc_thread* thread = make_with_stack(body, argument, cpuset);
  atomic_fetch_add_explicit(&live->threads, 1, memory_order_relaxed);
  make_ready(thread, UC_MAX_HARTS);
  return thread;
}

const struct uc_cpuset* uc_cpuset_one(unsigned hart) { return runqs[hart].home; }

struct uc_thread* uc_thread_self(void) { return runqs[uc_id()].current; }

void uc_sched_run(void) {
  const void* channel = &runqs[uc_id()];
  uc_sleepq_lock(channel);
  while (live->threads) {
    uc_sleepq_wait(channel);
    uc_sleepq_lock(channel);
  }
  uc_sleepq_release(channel);
}

void uc_sched_start(unsigned n, uint64_t switch_cost, bool poll) {
  if (runqs) return;
  runqs = uc_alloc(n * sizeof *runqs, 0);
  settings = uc_alloc(sizeof *settings, 0);
  live = uc_alloc(sizeof *live, 0);
  *settings = (struct settings){.harts = n, .switch_cost = switch_cost, .poll = poll};
  uc_sleepq_start();
  for (unsigned hart = 0; hart < n; hart++) {
    struct runq* queue = &runqs[hart];
    queue->ready.end = &queue->ready.first;
    queue->load = 1;
    queue->home = uc_cpuset_range(hart, 1);
    queue->current = make(NULL, NULL, queue->home);
    queue->current->running = 1;
    queue->idler = make_with_stack(idle_loop, queue, NULL);
    queue->idler->hart = queue->current->hart = hart;
  }
}
