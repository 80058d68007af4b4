// Ticket lock: take a number, wait until it is called.
//
// Described as "ticket lock" by Mellor-Crummey and Scott (1991), after Reed and Kanodia's
// eventcounts and sequencers (1979) and Lamport's bakery; Linux used it from 2008 to 2015. Two
// words: the next free ticket and the ticket being served. It is fair, and it is small; but all
// waiters read the served word, so each release invalidates every waiter's copy and each of them
// fetches the line again: one handoff costs traffic proportional to the waiters. With both words on
// one line, as here and in Linux, an arriving ticket disturbs the waiters as well.
#include "ticket.h"

#include "contend.h"

UC_WORKLOAD("Ticket lock: fair, one line, every release seen by every waiter");

struct lock {
  struct ticket_lock ticket;
};

static struct lock* lock_setup(unsigned n) {
  (void)n;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  ticket_acquire(&lock->ticket);
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  ticket_release(&lock->ticket);
}
