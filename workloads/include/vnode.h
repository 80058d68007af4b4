// What FreeBSD 11 and 12 write in common to find /tmp/FILE and to close it again, each task a file
// of its own (namei and vn_close in its kern/vfs_lookup.c, vfs_cache.c, vfs_subr.c and
// vfs_vnops.c).
//
// A directory on the way is a vnode: two counts, which keep it in memory and in use, and a lock,
// taken shared, on another line. Each is changed by a compare-and-swap, ten times for the root and
// six times for /tmp; the name cache's bucket for "tmp" is locked shared, once. A file that nobody
// has open is on the list of free vnodes, another one on that of active ones; a mutex guards both,
// and their neighbours there are files of other tasks. close() tells the file system that it may
// write: three times under the mutex of the mount, whose counts are elsewhere.
//
//     vnode_setup(n, files)    root, /tmp, the name cache's entry, the mount, the tasks' files
//     vnode_look_up(file)      the way to a file, which becomes active
//     vnode_put(file)          it becomes free again
//     vnode_write_begin, vnode_write_end
//     vnode_check()            everything was given back
#ifndef UNCORE_VNODE_H_
#define UNCORE_VNODE_H_

#include "mtx.h"
#include "rwlock.h"

struct vnode {
  UC_ALIGNED _Atomic uint64_t lock;  // shared holders
  UC_ALIGNED _Atomic uint64_t holds, uses;
};

static struct vnode *vnode_root, *vnode_tmp;

// A file, in one of the two lists; what else there is of it is nobody else's.
struct leaf {
  UC_ALIGNED struct leaf *next, *previous;
};
static struct leaf* leaves;

// Circular, each with a leaf that is none where it begins and ends.
static struct leaf_lists {
  UC_ALIGNED struct mtx lock;
  UC_ALIGNED struct leaf free, active;
  uint64_t free_leaves, active_leaves;
}* leaf_lists;

static struct bucket {
  UC_ALIGNED struct rwlock lock;
}* name_bucket;

static struct mount {
  UC_ALIGNED struct mtx lock;
  UC_ALIGNED uint64_t references, writers;
}* mount;

static inline void leaf_insert(struct leaf* before, struct leaf* leaf) {
  leaf->next = before;
  leaf->previous = before->previous;
  leaf->previous->next = before->previous = leaf;
}

static inline void leaf_remove(struct leaf* leaf) {
  leaf->previous->next = leaf->next;
  leaf->next->previous = leaf->previous;
}

static inline void vnode_setup(unsigned n, uint64_t files) {
  mtx_setup(n);
  vnode_root = uc_alloc(sizeof *vnode_root, 0);
  vnode_tmp = uc_alloc(sizeof *vnode_tmp, 0);
  name_bucket = uc_alloc(sizeof *name_bucket, 0);
  rw_init(&name_bucket->lock, n);
  mount = uc_alloc(sizeof *mount, 0);
  leaf_lists = uc_alloc(sizeof *leaf_lists, 0);
  leaf_lists->free.next = leaf_lists->free.previous = &leaf_lists->free;
  leaf_lists->active.next = leaf_lists->active.previous = &leaf_lists->active;
  leaves = uc_alloc(files * sizeof *leaves, 0);
  for (uint64_t i = 0; i < files; i++) leaf_insert(&leaf_lists->free, &leaves[i]);
  leaf_lists->free_leaves = files;
}

// refcount_acquire_if_not_zero and its like, and a lockmgr lock taken shared.
static inline void vnode_count(_Atomic uint64_t* count, int by) {
  uint64_t before = atomic_load_explicit(count, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(count, &before, before + (uint64_t)by,
                                                memory_order_acq_rel, memory_order_relaxed))
    continue;
}

static inline void vref(struct vnode* vnode) {
  vnode_count(&vnode->holds, 1);
  vnode_count(&vnode->uses, 1);
}

static inline void vrele(struct vnode* vnode) {
  vnode_count(&vnode->uses, -1);
  vnode_count(&vnode->holds, -1);
}

// Found in the name cache: held while the bucket is locked, then locked and used.
static inline void vget(struct vnode* vnode) {
  rw_rlock(&name_bucket->lock);
  vnode_count(&vnode->holds, 1);
  rw_runlock(&name_bucket->lock);
  vnode_count(&vnode->lock, 1);
  vnode_count(&vnode->uses, 1);
}

static inline void vput(struct vnode* vnode) {
  vnode_count(&vnode->uses, -1);
  vnode_count(&vnode->lock, -1);
  vnode_count(&vnode->holds, -1);
}

// Free ones are reused from the other end of their list.
static inline void leaf_move(uint64_t file, bool active) {
  mtx_lock(&leaf_lists->lock);
  leaf_remove(&leaves[file]);
  leaf_insert(active ? leaf_lists->active.next : &leaf_lists->free, &leaves[file]);
  leaf_lists->active_leaves += active ? 1 : -1ull;
  leaf_lists->free_leaves += active ? -1ull : 1;
  mtx_unlock(&leaf_lists->lock);
}

static inline void vnode_put(uint64_t file) { leaf_move(file, false); }

static inline void vnode_look_up(uint64_t file) {
  vref(vnode_root);  // where an absolute path may not lead out of,
  vref(vnode_root);  // and where it begins
  vnode_count(&vnode_root->lock, 1);
  vget(vnode_tmp);
  vput(vnode_root);
  leaf_move(file, true);
  vput(vnode_tmp);
  vrele(vnode_root);
}

static inline void mount_count(uint64_t* count, int by) {
  mtx_lock(&mount->lock);
  *count += (uint64_t)by;
  mtx_unlock(&mount->lock);
}

static inline void vnode_write_begin(void) {
  mount_count(&mount->references, 1);
  mount_count(&mount->writers, 1);
}

static inline void vnode_write_end(void) {
  mtx_lock(&mount->lock);
  mount->references--;
  mount->writers--;
  mtx_unlock(&mount->lock);
}

static inline void vnode_check(void) {
  uc_check(vnode_root->uses == 0 && vnode_root->holds == 0, "references to the root were lost");
  uc_check(vnode_tmp->uses == 0 && vnode_tmp->holds == 0, "references to /tmp were lost");
  uc_check(leaf_lists->active_leaves == 0, "a file stayed active");
  uc_check(mount->references == 0 && mount->writers == 0, "the mount's counts are wrong");
}

#endif  // UNCORE_VNODE_H_
