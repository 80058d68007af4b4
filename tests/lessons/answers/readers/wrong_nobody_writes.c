// The read-write lock is unchanged, in a program in which threads hardly ever write.
#define CONTEND_WRITE_EVERY 100000
#include "contend_threads.h"
#include "rwlock.h"

UC_WORKLOAD("Read-write lock that is hardly ever written");

static struct rwlock* lock;

static void lock_setup(unsigned n) {
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  rw_init(lock, n);
}

static void lock_shared(void) { rw_rlock(lock); }
static void unlock_shared(void) { rw_runlock(lock); }
static void lock_exclusive(void) { rw_wlock(lock); }
static void unlock_exclusive(void) { rw_wunlock(lock); }
