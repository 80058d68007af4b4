// FreeBSD's epoch(9): sections are not preempted; an updater waits for a grace period, or leaves
// this to a service thread.
//
// Macy (2018) built it on ConcurrencyKit. The kernel's network stack looks up connections and
// interface addresses inside a section, for which it took a reader lock before. `reclaim=wait` is
// epoch_wait: the updater waits a grace period for every object. `reclaim=call` is epoch_call: the
// object is put on its processor's list, and a service thread of that processor runs the callbacks
// that are due. The kernel wakes this thread at a clock tick; here it is woken every `batch` calls.
//
// Check: as in reclaim.h.
#include "epoch.h"
#include "reclaim.h"
#include "scheduler.h"

UC_WORKLOAD("FreeBSD's epoch(9): epoch_wait, or epoch_call and its service thread");
enum reclaim { RECLAIM_CALL, RECLAIM_WAIT };
UC_PARAM(choice, reclaim, RECLAIM_CALL, "call|wait",
         "a service thread frees, or the updater waits");
UC_PARAM(u64, batch, 4, "calls", "after which the service thread is woken");

static struct epoch* epoch;

static struct service {
  struct uc_thread* thread;
  uint64_t calls;  // calls since the thread was woken
  bool due, over;
}* service;

// ---- The service thread, on the updater's hart
// ---------------------------------------------------

static void serve(void* argument) {
  (void)argument;
  while (!service->over) {
    uc_sleepq_lock(service);
    if (service->due || service->over)
      uc_sleepq_release(service);
    else
      uc_sleepq_wait(service);
    service->due = false;
    epoch_poll(epoch, 0);
  }
}

static void wake_service(void) {
  uc_sleepq_lock(service);
  service->due = true;
  service->calls = 0;
  uc_sleepq_signal(service);
  uc_sleepq_release(service);
  uc_yield();
}

static void end_service(void) {
  service->over = true;
  wake_service();
}

// ---- The scheme ---------------------------------------------------------------------------------

static void scheme_setup(unsigned n) {
  uc_sched_setup(n);
  epoch = epoch_make(n, 0);
  service = uc_alloc(sizeof *service, 0);
  uc_thread_create(serve, NULL, uc_cpuset_one(0));
}

static struct object* reader_get(unsigned reader) {
  epoch_enter(epoch, reader);
  return atomic_load_explicit(current, memory_order_acquire);
}

static void reader_put(unsigned reader) { epoch_exit(epoch, reader); }

static void retire(struct deferred* deferred) {
  if (reclaim == RECLAIM_CALL) {
    epoch_call(epoch, 0, deferred, object_free);
    service->calls++;
  } else {
    epoch_wait(epoch);
    object_free(deferred);
  }
}

static void poll(bool wait) {
  if (wait || service->calls >= batch) wake_service();
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  reclaim_run(id);
  if (id) return;
  end_service();
  uc_sched_run();
}
