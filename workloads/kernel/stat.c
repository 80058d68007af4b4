// stat and link: stat returns more attributes than most callers want.
//
// Clements (2014): stat returns every attribute of a file, so it commutes with no call that changes
// one of them, such as link and unlink, whose count most callers do not use. The caller of sv6's
// fstatx names the attributes that it wants. That matters if the count of links scales, as in sv6,
// which keeps it in parts (Refcache): a reader of other attributes then touches no written line,
// while a reader of the count must read all parts.
//
// The first `linkers` tasks make and remove a link to the file, again and again; the others call
// stat. `links=one` counts in a word beside the other attributes, under the inode's lock, as Unix
// does; `links=parts` has a part for each hart. `asked=some` leaves the count out.
//
// With links=one every stat fetches the line after each change, for any `asked`: all attributes are
// in it. With links=parts and asked=all a stat fetches each linker's line; with asked=some, none,
// and only then its throughput is like getuid's. `uncore conflicts` reports that stat and link
// share lines in the first three cases, and none in the fourth.
//
// Check: the number of links is always at least 1, for the file's name, and at most one more for
// each linker; at the end it is 1; the size and the owner never change.
#include "calls.h"
#include "percpu_counter.h"
#include "uncore.h"

UC_WORKLOAD("Kernel paths stat and link: a count that an asker wants, or leaves out");
enum kind { STAT, LINK };
UC_KINDS("stat|link");
enum links { LINKS_ONE, LINKS_PARTS };
UC_PARAM(choice, links, LINKS_ONE, "one|parts", "how a file's links are counted");
enum asked { ASKED_ALL, ASKED_SOME };
UC_PARAM(choice, asked, ASKED_ALL, "all|some", "attributes: with the number of links, or without");
UC_PARAM(u64, linkers, 1, "tasks", "that link and unlink; the others ask");
UC_PARAM(u64, work, 500, "instructions", "entry, exit and private work of a call");

#define SIZE 4711

static struct inode {
  UC_ALIGNED struct spinlock lock;
  _Atomic uint64_t size, changed_ns;  // on the line of the lock and the number of links
  int64_t links;
  UC_ALIGNED uint64_t owner, mode;
}* inode;
static struct percpu_counter* parts;
static uint64_t most_links;

static int64_t links_read(void) {
  if (links == LINKS_PARTS) return percpu_counter_sum(parts);
  spin_lock(&inode->lock);
  int64_t seen = inode->links;
  spin_unlock(&inode->lock);
  return seen;
}

static void links_change(unsigned id, int64_t amount) {
  if (links == LINKS_PARTS) {
    percpu_counter_add(parts, id, amount, 0);
    return;
  }
  if (!UC_SABOTAGE) spin_lock(&inode->lock);
  inode->links += amount;
  if (!UC_SABOTAGE) spin_unlock(&inode->lock);
}

static void ask(void) {
  uc_kind(STAT);
  uc_work((int64_t)work);
  uc_check(atomic_load_explicit(&inode->size, memory_order_relaxed) == SIZE && !inode->owner,
           "an attribute changed that nobody writes");
  if (asked == ASKED_SOME) return;
  int64_t seen = links_read();
  uc_check(seen >= 1 && (uint64_t)seen <= most_links, "a number of links that never was");
}

static void link_and_unlink(unsigned id) {
  uc_kind(LINK);
  uc_work((int64_t)work / 2);
  links_change(id, 1);
  uc_work((int64_t)work / 2);
  links_change(id, -1);
}

static void call(unsigned id) {
  if (id < linkers)
    link_and_unlink(id);
  else
    ask();
}

void uc_setup(unsigned n) {
  most_links = 1 + (linkers < n ? linkers : n);
  inode = uc_alloc(sizeof *inode, 0);
  inode->size = SIZE;
  inode->links = 1;
  parts = percpu_counter_make(n, UC_BLOCK, 0);
  parts->total = 1;
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(links_read() == 1, "links were counted wrongly");
}
