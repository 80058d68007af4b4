// FreeBSD's lockmgr: the file system's lock, whose mode may change while it is held.
//
// It came with 4.4BSD (1993), for vnodes and buffers. A lookup holds a directory shared, finds that
// it must create a file, and wants the same lock exclusively without releasing it. If several
// readers want that at once only one can have it, so an upgrade may let others in between, and then
// returns false. lockmgr never spins: every wait is a sleep and every handoff a wake-up, so it
// costs more than lock/sx.c.
//
// A hart's writes use one of three ways in turn: they lock exclusively, exclusively twice (it is
// recursive), or as readers that upgrade, and downgrade before they unlock.
//
// Check: as in contend_threads.h; and nothing is written during an atomic upgrade.
#include "lockmgr.h"

#include "contend_threads.h"

UC_WORKLOAD("FreeBSD lockmgr: sleeps, is recursive, upgrades and downgrades");

static struct lockmgr* lock;

enum way { ONCE, TWICE, BY_UPGRADE };

// `turn` selects the way of a hart's next write; `inside_by` has the way of the present holder.
static struct {
  UC_ALIGNED unsigned turn;
}* harts;
static struct {
  UC_ALIGNED enum way way;
}* inside_by;

static void lock_setup(unsigned n) {
  lock = uc_alloc(sizeof *lock, (unsigned)lock_node);
  harts = uc_alloc(n * sizeof *harts, 0);
  inside_by = uc_alloc(sizeof *inside_by, (unsigned)lock_node);
  lockmgr_init(lock, n);
}

static void lock_shared(void) { lockmgr(lock, LK_SHARED); }
static void unlock_shared(void) { lockmgr(lock, LK_RELEASE); }

static void lock_by_upgrade(void) {
  lockmgr(lock, LK_SHARED);
  uint64_t before = look(false);
  bool atomic = lockmgr(lock, LK_UPGRADE);
  uc_check(!atomic || look(false) == before, "something was written during an atomic upgrade");
}

static void lock_exclusive(void) {
  enum way way = harts[uc_id()].turn++ % 3;
  if (way == BY_UPGRADE)
    lock_by_upgrade();
  else
    lockmgr(lock, LK_EXCLUSIVE);
  if (way == TWICE) lockmgr(lock, LK_EXCLUSIVE);
  inside_by->way = way;
}

static void unlock_exclusive(void) {
  if (inside_by->way == TWICE) lockmgr(lock, LK_RELEASE);
  if (inside_by->way == BY_UPGRADE) lockmgr(lock, LK_DOWNGRADE);
  lockmgr(lock, LK_RELEASE);
}
