// Ticket lock in one word: the ticket being served in the lower half, the next in the upper.
//
// Linux had it on x86 from 2008 to 2015 (Piggin). One fetch-and-add draws a ticket and reads the
// one being served, so a free lock is taken by one access of the line, where lock/ticket.c needs
// two. A waiter reads the lower half. Only the owner writes it, so a release is a plain load and
// store of 16 bits, which a ticket drawn meanwhile does not disturb.
#include "contend.h"

UC_WORKLOAD("Ticket lock in one word: drawn and looked at by one fetch-and-add");

enum { HALF = 16 };

struct lock {
  union {
    _Atomic uint32_t word;
    struct {
      _Atomic uint16_t served, next;
    };
  };
};

static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  uint32_t before = atomic_fetch_add_explicit(&lock->word, 1u << HALF, memory_order_acquire);
  uint16_t ticket = (uint16_t)(before >> HALF), served = (uint16_t)before;
  for (; served != ticket; served = atomic_load_explicit(&lock->served, memory_order_acquire))
    uc_pause();
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  uint16_t served = atomic_load_explicit(&lock->served, memory_order_relaxed);
  atomic_store_explicit(&lock->served, (uint16_t)(served + 1), memory_order_release);
}
