// The shared data that FreeBSD's tasks write when each opens and closes a private file /tmp/FILE
// (namei and lookup in kern/vfs_lookup.c, cache_lookup in kern/vfs_cache.c, vget, vputx, _vhold and
// _vdrop in kern/vfs_subr.c, vn_open and vn_close in kern/vfs_vnops.c; 11.0 and 12.0).
//
// A directory on the path is a vnode. Its two counts keep it in memory and in use; its flags are on
// the same line, and its lock, which is taken shared, on another one. Counts and lock change by
// compare-and-swap, ten times for the root and six times for /tmp. A task that takes the lock reads
// the flags. The name cache is locked shared while a vnode found in it is held.
//
// A file that no task has open is in the list of free vnodes, an open file in the list of active
// ones. One mutex guards both lists. A file's neighbours there belong to other tasks, and their
// links are written too; a vnode's interlock is on the line of its links. close() tells the file
// system that it may write, which takes the mutex of the mount three times. The mount's flags,
// which every lookup reads, share a line with its counts; so does the user's number, read to check
// permissions, with the credential's.
//
// The kernels differ (`lookup`):
//   global  FreeBSD 11: one lock for all names; a mutex for the free vnodes of all file systems,
//           while the active ones are listed in the mount, beside its counts
//   bucket  FreeBSD 12: a lock for each bucket of names (only one task uses the bucket of its own
//           file); the root's first references are additions (vrefact); a mount has lists of free
//           and of active vnodes, and one mutex for both
//   free    no references and no locks, as in Linux's walk under RCU, which is not modelled here
//
//     vnode_setup(n, files)    root, /tmp, the name cache's entry, the mount, the tasks' files
//     vnode_start()            refers to the root, while the process's table is locked
//     vnode_look_up(file)      walks the path to a file, which becomes active
//     vnode_close(file)        makes the file free again
//     vnode_check()            checks that everything was given back
#ifndef UNCORE_VNODE_H_
#define UNCORE_VNODE_H_

#include "credential.h"
#include "mtx.h"
#include "rwlock.h"

enum lookup { FREE, GLOBAL, BUCKET };
UC_PARAM(choice, lookup, FREE, "free|global|bucket", "what a path lookup locks and counts");

struct vnode {
  UC_ALIGNED _Atomic uint64_t lock;  // shared holders
  UC_ALIGNED _Atomic uint64_t holds, uses;
};

static struct vnode *vnode_root, *vnode_tmp;

struct vnode_link {
  struct vnode_link *next, *previous;
};

// A file, in one of the two lists. Its other data is private to its task, and not modelled.
static struct leaf {
  UC_ALIGNED struct vnode_link link;
  struct mtx interlock;
}* leaves;

// Circular lists; `free` and `active` are their heads, which belong to no file.
static struct vnode_lists {
  UC_ALIGNED struct mtx lock;
  struct vnode_link free, active;
  uint64_t free_leaves, active_leaves;
}* vnode_lists;

static struct mount {
  UC_ALIGNED struct mtx lock;
  UC_ALIGNED uint64_t references, writers;
  _Atomic uint64_t flags;
  struct vnode_link active;
}* mount;

static struct names {
  UC_ALIGNED struct rwlock lock;
}* names;

static inline struct vnode_link* vnode_active(void) {
  return lookup == GLOBAL ? &mount->active : &vnode_lists->active;
}

static inline void vnode_link_insert(struct vnode_link* before, struct vnode_link* link) {
  link->next = before;
  link->previous = before->previous;
  link->previous->next = before->previous = link;
}

static inline void vnode_link_remove(struct vnode_link* link) {
  link->previous->next = link->next;
  link->next->previous = link->previous;
}

static inline void vnode_setup(unsigned n, uint64_t files) {
  mtx_setup(n);
  vnode_root = uc_alloc(sizeof *vnode_root, 0);
  vnode_tmp = uc_alloc(sizeof *vnode_tmp, 0);
  names = uc_alloc(sizeof *names, 0);
  rw_init(&names->lock, n);
  mount = uc_alloc(sizeof *mount, 0);
  vnode_lists = uc_alloc(sizeof *vnode_lists, 0);
  vnode_active()->next = vnode_active()->previous = vnode_active();
  struct vnode_link* free = &vnode_lists->free;
  free->next = free->previous = free;
  leaves = uc_alloc(files * sizeof *leaves, 0);
  for (uint64_t i = 0; i < files; i++) vnode_link_insert(free, &leaves[i].link);
  vnode_lists->free_leaves = files;
}

// ---- Directories --------------------------------------------------------------------------------

// Adds with a compare-and-swap loop, as refcount_acquire_if_not_zero and lockmgr (shared) do.
static inline void vnode_count(_Atomic uint64_t* count, int amount) {
  uint64_t before = atomic_load_explicit(count, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(count, &before, before + (uint64_t)amount,
                                                memory_order_acq_rel, memory_order_relaxed))
    continue;
}

static inline void vref(struct vnode* vnode) {
  if (lookup == GLOBAL) {
    vnode_count(&vnode->holds, 1);
    vnode_count(&vnode->uses, 1);
  } else {
    atomic_fetch_add_explicit(&vnode->holds, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&vnode->uses, 1, memory_order_relaxed);
  }
}

static inline void vrele(struct vnode* vnode) {
  vnode_count(&vnode->uses, -1);
  vnode_count(&vnode->holds, -1);
}

// Locks a vnode, then reads the line of its counts, where the flag VI_DOOMED is.
static inline void vn_lock(struct vnode* vnode) {
  vnode_count(&vnode->lock, 1);
  uc_check(atomic_load_explicit(&vnode->uses, memory_order_relaxed), "locked, and not in use");
}

// Takes a vnode from the name cache: holds it while the names are locked, then locks and uses it.
static inline void vget(struct vnode* vnode) {
  rw_rlock(&names->lock);
  vnode_count(&vnode->holds, 1);
  rw_runlock(&names->lock);
  vnode_count(&vnode->lock, 1);
  vnode_count(&vnode->uses, 1);
}

static inline void vput(struct vnode* vnode) {
  vnode_count(&vnode->uses, -1);
  vnode_count(&vnode->lock, -1);
  vnode_count(&vnode->holds, -1);
}

// ---- Files --------------------------------------------------------------------------------------

// Moves a file to the other list. Free files are inserted at the end, and reused from the front.
static inline void leaf_move(struct leaf* leaf, bool active) {
  mtx_lock(&vnode_lists->lock);
  vnode_link_remove(&leaf->link);
  vnode_link_insert(active ? vnode_active()->next : &vnode_lists->free, &leaf->link);
  vnode_lists->active_leaves += active ? 1 : -1ull;
  vnode_lists->free_leaves += active ? -1ull : 1;
  mtx_unlock(&vnode_lists->lock);
}

// Moves a file that gets its first holder, or loses its last one.
static inline void leaf_change(struct leaf* leaf, bool active) {
  mtx_lock(&leaf->interlock);
  leaf_move(leaf, active);
  mtx_unlock(&leaf->interlock);
}

// Counts a use of a file, or reads the count.
static inline void leaf_use(struct leaf* leaf) {
  mtx_lock(&leaf->interlock);
  mtx_unlock(&leaf->interlock);
}

static inline void leaf_get(struct leaf* leaf) {
  if (lookup == GLOBAL) rw_rlock(&names->lock);
  leaf_change(leaf, true);
  if (lookup == GLOBAL) rw_runlock(&names->lock);
  leaf_use(leaf);
}

// ---- Opening and closing a file -----------------------------------------------------------------

// Reads the mount's flags: may readers share a lock, is the mount read-only?
static inline void mount_look(void) {
  (void)atomic_load_explicit(&mount->flags, memory_order_relaxed);
}

static inline void vnode_start(void) {
  vref(vnode_root);  // the process's root directory, which a path cannot leave
  vref(vnode_root);  // the directory in which an absolute path begins
}

static inline void vnode_look_up(uint64_t file) {
  mount_look();
  vn_lock(vnode_root);
  credential_look();
  vget(vnode_tmp);
  vput(vnode_root);
  mount_look();
  credential_look();
  leaf_get(&leaves[file]);
  vput(vnode_tmp);
  vrele(vnode_root);
  mount_look();
  credential_look();
}

static inline void mount_count(uint64_t* count, int amount) {
  mtx_lock(&mount->lock);
  *count += (uint64_t)amount;
  mtx_unlock(&mount->lock);
}

static inline void mount_written(void) {
  mtx_lock(&mount->lock);
  mount->references--;
  mount->writers--;
  mtx_unlock(&mount->lock);
}

static inline void vnode_close(uint64_t file) {
  mount_count(&mount->references, 1);
  mount_count(&mount->writers, 1);
  leaf_use(&leaves[file]);  // ufs_close reads the use count
  leaf_use(&leaves[file]);  // the use count falls to zero
  leaf_change(&leaves[file], false);
  mount_written();
}

static inline void vnode_check(void) {
  uc_check(vnode_root->uses == 0 && vnode_root->holds == 0, "references to the root were lost");
  uc_check(vnode_tmp->uses == 0 && vnode_tmp->holds == 0, "references to /tmp were lost");
  uc_check(vnode_lists->active_leaves == 0, "a file stayed active");
  uc_check(mount->references == 0 && mount->writers == 0, "the mount's counts are wrong");
}

#endif  // UNCORE_VNODE_H_
