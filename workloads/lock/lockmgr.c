// FreeBSD's lockmgr: the file system's lock, with modes that change while it is held.
//
// From 4.4BSD (1993), for vnodes and buffers: a lookup holds a directory shared, finds that it must
// create something, and wants the same lock exclusively without letting go. Where several readers
// want that at once only one can have it, so an upgrade may let others in between, and says so. It
// never spins: every wait is a sleep and every handoff a wake-up, which is what it costs beside
// lock/sx.c.
//
// Writers come in one of three ways in turn: exclusively, exclusively twice (it is recursive), or
// as readers that upgrade, and downgrade before they leave.
//
// Check: contend_threads.h's; and after an upgrade that was atomic nothing has been written since.
#include "lockmgr.h"

#include "contend_threads.h"

UC_WORKLOAD("FreeBSD lockmgr: sleeps, is recursive, upgrades and downgrades");

static struct lockmgr* lock;

enum way { ONCE, TWICE, BY_UPGRADE };

// The way in of each hart's next writer, and of the one inside.
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
