// FreeBSD's MTX_SPIN mutex: its waiters spin, and interrupts are off while it is held.
//
// It guards data that interrupt handlers share with other kernel code (scheduler, interrupt
// routing). If an interrupt came while the lock is held, and its handler wanted the same lock, the
// hart would wait for itself forever. The price is that interrupts wait as long as the lock is
// held; a hart that spins lets them in. The word names the owner, so it is set by a
// compare-and-swap, which costs waiters more than the exchange of lock/ttas.c, even if it fails.
//
// Every `ipi_every`-th operation of a hart interrupts its neighbour, whose handler takes the lock
// too.
//
// Check: as in contend.h, for owners and handlers; no handler runs on a hart that holds the lock.
#include "contend.h"
#include "mtx.h"

UC_WORKLOAD("FreeBSD MTX_SPIN mutex: spins with interrupts off, shared with handlers");
UC_PARAM(u64, ipi_every, 10, "operations", "every how manyth operation interrupts; 0: none");

struct lock {
  struct mtx mutex;
};

static struct hart {
  UC_ALIGNED uint64_t operations;
}* harts;
static unsigned count;  // number of harts; read-only

static void on_ipi(void) {
  uc_check(!mtx_owned_spin(&lock->mutex), "an interrupt was taken while its hart held the lock");
  mtx_lock_spin(&lock->mutex);
  uc_check(!guarded_lines || guarded->owner == 0, "a handler entered while a hart was inside");
  mtx_unlock_spin(&lock->mutex);
}

static struct lock* lock_setup(unsigned n) {
  struct lock* lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  harts = uc_alloc(n * sizeof *harts, 0);
  count = n;
  return lock;
}

static void lock_acquire(struct lock* lock, unsigned id) {
  if (harts[id].operations++ == 0) uc_on_ipi(on_ipi);
  mtx_lock_spin(&lock->mutex);
}

static void lock_release(struct lock* lock, unsigned id) {
  mtx_unlock_spin(&lock->mutex);
  if (ipi_every && harts[id].operations % ipi_every == 0) uc_ipi((id + 1) % count);
}
