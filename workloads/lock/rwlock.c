// FreeBSD's rwlock: any number of readers, or one writer.
//
// Courtois, Heymans and Parnas (1971) posed the problem of readers and writers; FreeBSD's lock of
// 2006 keeps both in one word. It is the first choice to keep a table's entries from being freed
// during a lookup. But each reader increments the word and decrements it again. These are two
// exclusive transfers of the line for every lookup, although readers exchange no data. With a short
// critical section it scales no better than a mutex, because readers overlap only while they hold
// the lock.
//
// Check: as in contend_threads.h.
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
