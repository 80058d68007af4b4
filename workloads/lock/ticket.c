// Ticket lock: take a number, wait until it is called.
//
// Mellor-Crummey and Scott (1991) gave it its name. Earlier forms are Reed and Kanodia's sequencers
// (1979) and Lamport's bakery. Linux used it from 2008 to 2015. It has two words: the next free
// ticket and the ticket being served. It is fair and small, but all waiters read the served word,
// so each release invalidates every waiter's copy and each fetches the line again: a handoff's
// traffic is proportional to the number of waiters. With both words on one line, as here and in
// Linux, a hart that draws a ticket also takes the line from the waiters.
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
