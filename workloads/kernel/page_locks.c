// Locks of pages: a page has a lock of its own, or uses one of a pool, chosen by its address.
//
// DragonFly locked a vm_page by one of 8192 spin locks of the system, found by a hash of the page's
// address; a lock has 32 bytes, so two share a line (spin_pool_lock and pool_spinlocks in
// kern/kern_spinlock.c). Dillon (2017) removed the pool for VM pages, and aligned
// their structures to lines: two unrelated pages no longer share a lock, nor a
// line.
//
//   locks=pool  the lock is in the pool, in another line than the page's fields
//   locks=own   the lock is a word of the page
//
// `page_bytes` is the distance from one page's structure to the next: 128 is two lines; with 96
// every other page shares a line with its neighbour. Pages of different tasks are neighbours, as
// when a free list hands them out.
//
// With `locks=own` and 128 bytes throughput rises with the harts, because no line moves. With the
// pool, the more tasks times `pages`, the more locks share a line with another task's lock, until
// each operation waits for a line or two. With 96 bytes half of the pages share a line with another
// task's page. Tasks seldom want the same lock at once: the time goes into moving lines, not into
// waiting for a holder.
//
// Each task takes its own pages in turn, locks, counts, unlocks. An operation is a page locked.
//
// Check: no page loses a count, although another task may use the same lock.
#define SPIN_BACKS_OFF
#include "loop.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Spin locks of VM pages: a pool of the system, or one in each page");
enum locks { LOCKS_POOL, LOCKS_OWN };
UC_PARAM(choice, locks, LOCKS_POOL, "pool|own", "where a page's lock is");
UC_PARAM(u64, pool, 8192, "locks", "of the pool: a power of two");
UC_PARAM(u64, page_bytes, 128, "bytes", "from one page's structure to the next: 96 or more");
UC_PARAM(u64, pages, 256, "pages", "of each task");
UC_PARAM(duration, work, 100, "ns", "private work between two pages");

// The first and last fields change; `between` only keeps them on different lines.
struct page {
  struct spinlock lock;  // locks=own
  uint64_t wired;
  uint64_t between[9];
  uint64_t unwired;
};

struct pool_lock {
  struct spinlock lock;
  char filler[32 - sizeof(struct spinlock)];
};

static struct pool_lock* pool_locks;
static char* page_array;
static unsigned task_count;

// Returns page k of a task. The tasks' pages alternate.
static struct page* page_of(unsigned id, uint64_t k) {
  return (struct page*)(page_array + (k * task_count + id) * page_bytes);
}

static struct spinlock* lock_of(struct page* page) {
  if (locks == LOCKS_OWN) return &page->lock;
  uint64_t address = (uint64_t)page;
  return &pool_locks[(address >> 5 ^ address >> 12) & (pool - 1)].lock;
}

// Both counts change with the lock held.
static void page_use(struct page* page) {
  struct spinlock* lock = lock_of(page);
  spin_lock(lock);
  page->wired++;
  if (!UC_SABOTAGE) page->unwired++;
  spin_unlock(lock);
}

void uc_setup(unsigned n) {
  uc_require(pool && !(pool & (pool - 1)) && pages, "pool must be a power of two, pages 1 or more");
  uc_require(page_bytes >= sizeof(struct page) && page_bytes % 8 == 0,
             "page_bytes must be a multiple of 8, 96 or more");
  task_count = n;
  pool_locks = uc_alloc(pool * sizeof *pool_locks, 0);
  page_array = uc_alloc(n * pages * page_bytes, 0);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t turn = 0;
  for (; turn < pages; turn++) page_use(page_of(id, turn));  // fetches the lines
  for (struct loop loop = loop_begin(); loop_more(&loop); turn++) {
    uc_start();
    page_use(page_of(id, turn % pages));
    uc_op();
    uc_delay(work);
  }
  loop_end();
}

void uc_finish(unsigned n) {
  uint64_t wired = 0;
  for (unsigned id = 0; id < n; id++)
    for (uint64_t k = 0; k < pages; k++) {
      wired += page_of(id, k)->wired;
      uc_check(page_of(id, k)->wired == page_of(id, k)->unwired, "a page's counts differ");
    }
  uc_check(wired == uc_total_ops(n) + n * pages, "a page's use was not counted");
}
