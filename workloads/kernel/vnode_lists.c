// A file that no task has open: its vnode leaves the active list at once, or later.
//
// DragonFly keeps vnodes on two lists under one spin lock of the system (vfs_spin and _vactivate,
// _vinactive in kern/vfs_lock.c). A vnode moved to the inactive list when it lost its last
// reference, and back when it got a new one: the lock was taken twice for each open and close.
// Dillon (2017) found this to be one of the two main conflicts left. Since then a vnode without
// references stays on the active list, and a cleaner later moves vnodes that have not been used
// for a while.
//
//   change=moved    a vnode moves at its last reference and at its next one
//   change=passive  task 0 is the cleaner. After each `clean_every` of its calls it takes the vnode
//                   at the head of the active list. If the vnode was not used since the last time
//                   it moves to the inactive list, otherwise to the end of the active list
//
// With moved, throughput is best at a few harts, for any `files`, because all tasks contend for
// vfs_spin and for their neighbours' links. With passive it rises with the harts, because only one
// task uses a file's lock and count. Dillon gives no figures.
//
// Check: a referenced vnode is active, and both lists are complete.
#define SPIN_BACKS_OFF
#include "loop.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Vnodes change between lists with each first and last reference, or later");
enum change { MOVED, PASSIVE };
UC_PARAM(choice, change, MOVED, "moved|passive", "when an unreferenced vnode becomes inactive");
UC_PARAM(u64, files, 4, "files", "that a task opens and closes in turn");
UC_PARAM(u64, clean_every, 16, "calls", "of task 0, after which it looks at an active vnode");
UC_PARAM(duration, work, 500, "ns", "private work of a task with its file open, and again closed");

struct link {
  struct link *next, *previous;
};

enum state { INACTIVE, ACTIVE };

struct vnode {
  UC_ALIGNED struct link link;  // first, so that both have the same address
  UC_ALIGNED struct spinlock lock;
  uint64_t references;
  enum state state;
  bool used;  // set at each use, cleared by the cleaner
};

static struct lists {
  UC_ALIGNED struct spinlock lock;  // vfs_spin
  struct link ends[2];              // heads of the circular lists, by state
  uint64_t length[2];
}* lists;

static struct vnode* vnodes;

// ---- Lists, with the vnode's lock held ----------------------------------------------------------

static void link_insert(struct link* before, struct link* link) {
  link->next = before;
  link->previous = before->previous;
  link->previous->next = before->previous = link;
}

static void link_remove(struct link* link) {
  link->previous->next = link->next;
  link->next->previous = link->previous;
}

static void vnode_move(struct vnode* vnode, enum state state) {
  if (!UC_SABOTAGE) spin_lock(&lists->lock);
  link_remove(&vnode->link);
  lists->length[vnode->state]--;
  link_insert(&lists->ends[state], &vnode->link);
  lists->length[state]++;
  vnode->state = state;
  if (!UC_SABOTAGE) spin_unlock(&lists->lock);
}

// ---- Open and close -----------------------------------------------------------------------------

static void vnode_get(struct vnode* vnode) {
  spin_lock(&vnode->lock);
  vnode->references++;
  vnode->used = true;
  if (vnode->state == INACTIVE) vnode_move(vnode, ACTIVE);
  spin_unlock(&vnode->lock);
}

static void vnode_put(struct vnode* vnode) {
  spin_lock(&vnode->lock);
  uc_check(vnode->references && vnode->state == ACTIVE, "a vnode in use was not active");
  if (--vnode->references == 0 && change == MOVED) vnode_move(vnode, INACTIVE);
  spin_unlock(&vnode->lock);
}

// ---- The cleaner --------------------------------------------------------------------------------

// Moves the vnode at the head of the active list to its end. Returns it; null if there is none.
static struct vnode* rove(void) {
  struct link* ends = &lists->ends[ACTIVE];
  spin_lock(&lists->lock);
  struct link* oldest = ends->next;
  if (oldest != ends) link_remove(oldest), link_insert(ends, oldest);
  spin_unlock(&lists->lock);
  return oldest == ends ? NULL : (struct vnode*)oldest;
}

static void clean(void) {
  struct vnode* vnode = rove();
  if (!vnode) return;
  spin_lock(&vnode->lock);
  if (vnode->state == ACTIVE && !vnode->references && !vnode->used) vnode_move(vnode, INACTIVE);
  vnode->used = false;
  spin_unlock(&vnode->lock);
}

// ---- Tasks --------------------------------------------------------------------------------------

void uc_setup(unsigned n) {
  uc_require(files && clean_every, "files and clean_every must be 1 or more");
  lists = uc_alloc(sizeof *lists, 0);
  vnodes = uc_alloc(n * files * sizeof *vnodes, 0);
  for (unsigned state = INACTIVE; state <= ACTIVE; state++)
    lists->ends[state].next = lists->ends[state].previous = &lists->ends[state];
  // Files of different tasks are neighbours in the list.
  for (uint64_t i = 0; i < files; i++)
    for (unsigned id = 0; id < n; id++)
      link_insert(&lists->ends[INACTIVE], &vnodes[id * files + i].link);
  lists->length[INACTIVE] = n * files;
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t calls = 0;
  for (struct loop loop = loop_begin(); loop_more(&loop);) {
    struct vnode* vnode = &vnodes[id * files + calls++ % files];
    uc_start();
    vnode_get(vnode);
    uc_delay(work);
    vnode_put(vnode);
    uc_op();
    uc_delay(work);
    if (change == PASSIVE && id == 0 && calls % clean_every == 0) clean();
  }
  loop_end();
}

void uc_finish(unsigned n) {
  for (unsigned state = INACTIVE; state <= ACTIVE; state++) {
    uint64_t length = 0;
    struct link* ends = &lists->ends[state];
    for (struct link* at = ends->next; at != ends && length <= n * files; at = at->next) length++;
    uc_check(length == lists->length[state], "vnodes were lost from a list");
  }
  uc_check(lists->length[INACTIVE] + lists->length[ACTIVE] == n * files, "vnodes were lost");
}
