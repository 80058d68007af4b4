// Linux's queued spin lock (since Linux 4.2): one word, and a queue of waiters outside of it.
//
// Its authors are Long and Zijlstra (2015). The word has a byte `taken`, a byte `pending` for
// the one waiter that is next, and the tail of the queue. The first waiter sets `pending` and polls
// the word, so that two threads never need the queue. Later waiters queue, each on its own node, as
// in lock/mcs.c, and only the head of the queue polls the word. To release the lock, the owner
// stores 0 to the byte `taken`; a plain store is enough, because nobody else writes that byte while
// the lock is held.
//
// The lock's policy decides which waiter becomes the next head; here it is the next in order of
// arrival. A file with another policy (lock/cna.c) defines QUEUE_POLICY before it includes this
// header, and then defines the two functions that are declared below.
//
// Invariants: the tail names the last node of the queue, or is 0 if there is none. While there is a
// queue, only its head, or the owner of the pending bit, who came before it, sets `taken`.
#ifndef UNCORE_QUEUED_LOCK_H_
#define UNCORE_QUEUED_LOCK_H_

#include "uncore.h"

enum { QUEUED_TAKEN = 1, QUEUED_PENDING = 1 << 8, QUEUED_TAIL_SHIFT = 16 };

union queued_lock {
  _Atomic uint32_t word;
  struct {
    _Atomic uint8_t taken, pending;
    _Atomic uint16_t tail;  // hart plus one
  };
  _Atomic uint16_t taken_and_pending;
};

struct queue_node {
  UC_ALIGNED _Atomic(struct queue_node*) next;
  _Atomic uintptr_t granted;  // 0: the hart waits; its predecessor sets this, perhaps to data
  unsigned node;              // the hart's memory node, if the policy needs it
};

static inline bool queue_swap_word(union queued_lock* lock, uint32_t* before, uint32_t after,
                                   memory_order order) {
  return atomic_compare_exchange_strong_explicit(&lock->word, before, after, order,
                                                 memory_order_relaxed);
}

// Called when the head takes the lock and is still the tail: empties the queue, or leaves what the
// policy has set aside. Returns false if another hart has joined meanwhile.
static bool queue_close(union queued_lock* lock, struct queue_node* self, uint32_t word);

// Called when the head has taken the lock: makes another node the head.
static void queue_pass(struct queue_node* self, struct queue_node* next);

#ifndef QUEUE_POLICY
static bool queue_close(union queued_lock* lock, struct queue_node* self, uint32_t word) {
  (void)self;
  return queue_swap_word(lock, &word, QUEUED_TAKEN, memory_order_relaxed);
}

static void queue_pass(struct queue_node* self, struct queue_node* next) {
  (void)self;
  atomic_store_explicit(&next->granted, 1, memory_order_release);
}
#endif

// Takes a free lock, or the pending bit of a taken lock that has no queue. Returns false if there
// is a queue or a pending waiter.
static inline bool queue_begin(union queued_lock* lock, bool* taken) {
  uint32_t word = 0;
  while (!queue_swap_word(lock, &word, word ? word | QUEUED_PENDING : QUEUED_TAKEN,
                          memory_order_acquire))
    if (word & ~(uint32_t)QUEUED_TAKEN) return false;
  *taken = !word;
  return true;
}

// Waits, at the head of the queue, until the lock is free and none is pending. Returns the word.
static inline uint32_t queue_await_word(union queued_lock* lock) {
  for (;; uc_pause()) {
    uint32_t word = atomic_load_explicit(&lock->word, memory_order_acquire);
    if (!(word & (QUEUED_PENDING | QUEUED_TAKEN))) return word;
  }
}

static inline struct queue_node* queue_next(struct queue_node* self) {
  struct queue_node* next;
  while (!(next = atomic_load_explicit(&self->next, memory_order_acquire))) uc_pause();
  return next;
}

// Tries once to take the lock, which may have become free while the node was prepared.
static inline bool queue_not_needed(union queued_lock* lock) {
  uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
  return !word && queue_swap_word(lock, &word, QUEUED_TAKEN, memory_order_acquire);
}

static __attribute__((noinline)) void queue_wait(union queued_lock* lock, struct queue_node* nodes,
                                                 struct queue_node* self) {
  atomic_store_explicit(&self->granted, 0, memory_order_relaxed);
  atomic_store_explicit(&self->next, NULL, memory_order_relaxed);
  if (queue_not_needed(lock)) return;
  uint16_t own = (uint16_t)(self - nodes + 1);
  uint16_t tail = atomic_exchange_explicit(&lock->tail, own, memory_order_acq_rel);
  if (tail) {
    atomic_store_explicit(&nodes[tail - 1].next, self, memory_order_release);
    while (!atomic_load_explicit(&self->granted, memory_order_acquire)) uc_pause();
  }
  uint32_t word = queue_await_word(lock);
  if (word >> QUEUED_TAIL_SHIFT == own && queue_close(lock, self, word)) return;
  atomic_store_explicit(&lock->taken, 1, memory_order_relaxed);
  queue_pass(self, queue_next(self));
}

// `nodes` has a node for each hart that may take the lock. This hart's is in use until the return.
static inline void queue_lock(union queued_lock* lock, struct queue_node* nodes, unsigned id) {
  bool taken = false;
  if (!queue_begin(lock, &taken)) {
    queue_wait(lock, nodes, &nodes[id]);
  } else if (!taken) {
    while (atomic_load_explicit(&lock->taken, memory_order_acquire)) uc_pause();
    atomic_store_explicit(&lock->taken_and_pending, 1, memory_order_relaxed);
  }
}

static inline void queue_unlock(union queued_lock* lock) {
  atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif  // UNCORE_QUEUED_LOCK_H_
