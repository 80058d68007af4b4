// FreeBSD's rwlock: any number of readers, or one writer.
//
// Courtois, Heymans and Parnas (1971) posed the problem of readers and writers; FreeBSD's lock of
// 2006 keeps both in one word. It is what one reaches for first to keep a table's entries alive
// while looking something up. But to be counted, each reader adds itself to the word and subtracts
// itself again: two exclusive transfers of the line for every lookup, among readers who have
// nothing to tell each other. It scales no better than a mutex once the critical section is short;
// readers only overlap inside.
//
// Check: contend_threads.h's.
#include "rwlock.h"

#include "contend_threads.h"

UC_WORKLOAD("FreeBSD rwlock: readers counted in the lock's word, writers lent priority");

static struct rwlock* lock;

static void lock_setup(unsigned n) {
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  rw_init(lock, n);
}

static void lock_shared(void) { rw_rlock(lock); }
static void unlock_shared(void) { rw_runlock(lock); }
static void lock_exclusive(void) { rw_wlock(lock); }
static void unlock_exclusive(void) { rw_wunlock(lock); }
