// FreeBSD's rmlock: readers without atomics, a writer that interrupts every hart.
//
// The "read mostly" lock of Stephan Uphoff (FreeBSD 2007) is for data that change once a day, such
// as routing tables and hooks. Readers of the rwlock (lock/rwlock.c) write one shared word. Here a
// reader writes only its own hart's list and reads a set of bits that stays in its cache, without
// an atomic instruction or a fence. The writer makes this safe: it interrupts every hart that may
// be reading, waits for an acknowledgement from each, and sleeps until the present readers leave.
// So reads scale perfectly, and the cost of a write grows with the machine.
//
// `write_every` sets the share of writes: at 10 the rwlock is faster, at 10000 this is the fastest.
//
// Check: as in contend_threads.h.
#include "rmlock.h"

#define CONTEND_HART_SETUP rendezvous_join
#define CONTEND_WRITE_EVERY 50
#include "contend_threads.h"

UC_WORKLOAD("FreeBSD rmlock: readers without atomics, writers interrupt every hart");

static struct rmlock* lock;

// The trackers of each hart. A thread that reads holds a tracker of the hart on which it runs.
static struct tracker {
  UC_ALIGNED struct rm_tracker rm;
  struct uc_thread* holder;
}* trackers;
static unsigned count;  // number of trackers of each hart; read-only

static void lock_setup(unsigned n) {
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  count = (unsigned)threads;
  trackers = uc_alloc(n * count * sizeof *trackers, 0);
  rm_init(lock, n);
}

static struct tracker* tracker_of(struct uc_thread* holder) {
  struct tracker* tracker = &trackers[uc_id() * count];
  while (tracker->holder != holder) tracker++;
  return tracker;
}

static void lock_shared(void) {
  struct tracker* tracker = tracker_of(NULL);
  tracker->holder = uc_thread_self();
  rm_rlock(lock, &tracker->rm);
}

static void unlock_shared(void) {
  struct tracker* tracker = tracker_of(uc_thread_self());
  rm_runlock(&tracker->rm);
  tracker->holder = NULL;
}

static void lock_exclusive(void) { rm_wlock(lock); }
static void unlock_exclusive(void) { rm_wunlock(lock); }
