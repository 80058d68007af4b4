// FreeBSD's rmlock(9), read mostly: readers use no atomic instruction and write nothing shared; a
// writer interrupts every hart. lock/rmlock.c explains it; the names are those of kern_rmlock.c.
//
// A reader links a tracker into its hart's list, and then checks whether its hart's bit allows
// reading. If a writer's interrupt comes after the link, its handler finds the tracker and moves it
// to the lock's list of active readers, for which the writer waits. If the interrupt comes before,
// the reader finds the bit set. So the order "link, then check" needs no fence, because reader and
// handler run on the same hart.
//
// `write_harts` has the bits of the harts whose readers must take the mutex first; it changes only
// under the mutex. A writer sets all bits and interrupts the harts whose bits were clear; a reader
// that has taken the mutex clears its hart's. So a writer after a writer sends no interrupt.
// Invariant: the next writer finds every reader that has linked its tracker and read a clear bit.
//
// A reader stays on its hart until it unlocks: a thread that may sleep inside must be bound to it.
#ifndef UNCORE_RMLOCK_H_
#define UNCORE_RMLOCK_H_

#include "rendezvous.h"

#define RM_WORDS (UC_MAX_HARTS / 64)

struct rmlock;

struct rm_tracker {
  struct rm_tracker *next, *previous;  // neighbours in the hart's list
  struct rmlock* lock;
  struct uc_thread* reader;
  struct rm_tracker* next_active;  // the next one in the lock's list of active readers
  _Atomic unsigned state;          // only the handler on its hart changes it from RM_PRIVATE
};
enum rm_state { RM_PRIVATE, RM_ACTIVE, RM_AWAITED };  // AWAITED: a writer waits for the reader

struct rmlock {
  UC_ALIGNED struct mtx mutex;
  struct rm_tracker* active;  // active readers, guarded by the lock of this rmlock's sleep queue
  struct turnstile turnstile;
  uint64_t read_harts[RM_WORDS];  // harts that the writer interrupts
  UC_ALIGNED _Atomic uint64_t write_harts[RM_WORDS];
};

// The trackers of each hart, in a circular list whose head belongs to no reader; newest first.
static struct rm_list {
  UC_ALIGNED struct rm_tracker head;
}* rm_lists;

static inline uint64_t rm_bits(struct rmlock* rm, unsigned word) {
  return atomic_load_explicit(&rm->write_harts[word], memory_order_relaxed);
}

static inline void rm_set_bits(struct rmlock* rm, unsigned word, uint64_t bits) {
  atomic_store_explicit(&rm->write_harts[word], bits, memory_order_relaxed);
}

static inline enum rm_state rm_state(struct rm_tracker* tracker) {
  return atomic_load_explicit(&tracker->state, memory_order_relaxed);
}

static inline void rm_set_state(struct rm_tracker* tracker, enum rm_state state) {
  atomic_store_explicit(&tracker->state, state, memory_order_relaxed);
}

static inline void rm_init(struct rmlock* rm, unsigned n) {
  mtx_setup(n);
  rendezvous_setup(n);
  if (!rm_lists) {
    rm_lists = uc_alloc(n * sizeof *rm_lists, 0);
    for (unsigned hart = 0; hart < n; hart++)
      rm_lists[hart].head.next = rm_lists[hart].head.previous = &rm_lists[hart].head;
  }
  // Sets the bits of all harts, because no reader has taken the mutex yet.
  for (unsigned word = 0; word < RM_WORDS; word++) rm_set_bits(rm, word, UINT64_MAX);
}

// ---- Readers ------------------------------------------------------------------------------------

// The handler may run between any two of these stores: it follows `next`, which is always valid.
static inline void rm_link(struct rm_tracker* tracker) {
  struct rm_tracker* head = &rm_lists[uc_id()].head;
  tracker->next = head->next;
  tracker->previous = head;
  head->next->previous = tracker;
  atomic_signal_fence(memory_order_seq_cst);
  head->next = tracker;
  atomic_signal_fence(memory_order_seq_cst);
}

static inline void rm_unlink(struct rm_tracker* tracker) {
  tracker->next->previous = tracker->previous;
  tracker->previous->next = tracker->next;
  atomic_signal_fence(memory_order_seq_cst);
}

static inline void rm_rlock_ask(struct rmlock* rm, struct rm_tracker* tracker) {
  rm_unlink(tracker);
  if (rm_state(tracker) != RM_PRIVATE) {  // a writer has found it and waits for its unlock
    rm_link(tracker);
    return;
  }
  mtx_lock(&rm->mutex);
  unsigned hart = uc_id();
  rm_set_bits(rm, hart / 64, rm_bits(rm, hart / 64) & ~(1ul << hart % 64));
  rm_link(tracker);
  mtx_unlock(&rm->mutex);
}

static inline void rm_rlock(struct rmlock* rm, struct rm_tracker* tracker) {
  tracker->lock = rm;
  tracker->reader = uc_thread_self();
  rm_set_state(tracker, RM_PRIVATE);
  rm_link(tracker);
  unsigned hart = uc_id();
  if (rm_bits(rm, hart / 64) >> hart % 64 & 1) rm_rlock_ask(rm, tracker);
}

static inline void rm_runlock_active(struct rm_tracker* tracker) {
  struct rmlock* rm = tracker->lock;
  uc_sleepq_lock(rm);
  struct rm_tracker** at = &rm->active;
  while (*at != tracker) at = &(*at)->next_active;
  *at = tracker->next_active;
  if (rm_state(tracker) == RM_AWAITED) turnstile_wake(&rm->turnstile, rm, false);
  uc_sleepq_release(rm);
}

static inline void rm_runlock(struct rm_tracker* tracker) {
  rm_unlink(tracker);
  if (rm_state(tracker) != RM_PRIVATE) rm_runlock_active(tracker);
}

// ---- Writers ------------------------------------------------------------------------------------

static inline bool rm_may_read(unsigned hart, void* argument) {
  struct rmlock* rm = argument;
  return rm->read_harts[hart / 64] >> hart % 64 & 1;
}

// Runs in the handler of each hart that may read: makes its readers known to the writer.
static inline void rm_clean(void* argument) {
  struct rmlock* rm = argument;
  struct rm_tracker* head = &rm_lists[uc_id()].head;
  for (struct rm_tracker* tracker = head->next; tracker != head; tracker = tracker->next) {
    if (tracker->lock != rm || rm_state(tracker) != RM_PRIVATE) continue;
    uc_sleepq_lock(rm);
    rm_set_state(tracker, RM_ACTIVE);
    tracker->next_active = rm->active;
    rm->active = tracker;
    uc_sleepq_release(rm);
  }
}

static inline void rm_await_readers(struct rmlock* rm) {
  uc_sleepq_lock(rm);
  while (rm->active) {
    rm_set_state(rm->active, RM_AWAITED);
    turnstile_wait(&rm->turnstile, rm, rm->active->reader);
    uc_sleepq_lock(rm);
  }
  uc_sleepq_release(rm);
}

static inline void rm_wlock(struct rmlock* rm) {
  mtx_lock(&rm->mutex);
  bool any = false;
  for (unsigned word = 0; word < RM_WORDS; word++) {
    rm->read_harts[word] = ~rm_bits(rm, word);
    any |= rm->read_harts[word] != 0;
    if (rm->read_harts[word]) rm_set_bits(rm, word, UINT64_MAX);
  }
  if (any) rendezvous(rm_may_read, rm_clean, rm);
  rm_await_readers(rm);
}

static inline void rm_wunlock(struct rmlock* rm) { mtx_unlock(&rm->mutex); }

#endif  // UNCORE_RMLOCK_H_
