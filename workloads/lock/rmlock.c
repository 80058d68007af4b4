// FreeBSD's rmlock: readers without atomics, a writer that interrupts every hart.
//
// "Read mostly", by Stephan Uphoff (FreeBSD 2007), for routing tables and hooks that change
// once a day. The rwlock (lock/rwlock.c) makes readers write one shared word; here a reader writes
// only its own hart's list and reads a set of bits that rests in its cache, with neither an atomic
// instruction nor a fence. The writer makes that safe: by an interrupt on every hart that may be
// reading, an acknowledgement from each, and a sleep until those found reading have left. So
// reading scales like doing nothing, and the cost of writing grows with the machine.
//
// `write_every` sets the balance: at 10 the rwlock wins, at 10000 nothing beats this.
//
// Check: contend_threads.h's.
#include "rmlock.h"

#define CONTEND_HART_SETUP rendezvous_join
#define CONTEND_WRITE_EVERY 50
#include "contend_threads.h"

UC_WORKLOAD("FreeBSD rmlock: readers without atomics, writers interrupt every hart");

static struct rmlock* lock;

// A thread holds one tracker at a time, in its hart's place for that thread's position.
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
