// read: each task reads its own file, but all tasks write some shared lines.
//
// Tasks share neither files nor offsets nor pages. They share the locks of file offsets: FreeBSD
// takes one from a pool of `pool` mutexes by a hash of the file's address, so two files may have
// the same mutex, or mutexes in one line. They also share data that the system updates once per
// read. will-it-scale's curves show its effect, but not what it is (Macy 2018: FreeBSD 12 reads
// eight times as much as 11, with a peak at 32 tasks; Linux is linear). `serial` chooses it:
//
//   none   nothing in common
//   line   one atomic update of a global line at the start and one at the end: a reference
//   lock   a global lock for the length of the lookup
//   queue  FreeBSD 11's one queue of clean buffers: a read of a cached block puts its buffer to
//          the end of the queue, under the queue's mutex (binsfree and bremfreel, called by
//          bqrelse, in 11.2's kern/vfs_bio.c). Its neighbours in the queue are other tasks'
//          buffers, whose lines move with the lock. FreeBSD 12 sets a flag (B_REUSE) "rather than
//          locking the queue on every use of a frequently accessed buf" (r329612, February 2018)
//
// The data are copied line by line, like the wide stores of a copy loop.
//
// Check: each read returns the whole block that follows the previous one.
#include "calls.h"
#include "mtx.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path read: own files, pooled offset locks, a common point");
enum serial { NONE, LINE, LOCK, QUEUE };
UC_PARAM(choice, serial, LINE, "none|line|lock|queue", "what every read of the system updates");
UC_PARAM(u64, pool, 128, "mutexes", "pool of offset locks; 0: each file has its own");
UC_PARAM(u64, pool_stride, 32, "bytes", "from one mutex of the pool to the next");
UC_PARAM(u64, bytes, 4096, "bytes", "one read, in lines of 64");
UC_PARAM(u64, work, 2200, "instructions", "entry, exit and private work of one read");
UC_PARAM(u64, lock_work, 100, "instructions", "serial=lock: of them in addition, under the lock");

#define LINE_BYTES 64
#define BLOCKS 2  // blocks of a file; reading wraps around

// A line of data. Only its first word is used: it identifies the file and the line in it.
struct data {
  uint64_t content;
  uint64_t unused[LINE_BYTES / 8 - 1];
};

// The header of a buffer, with its links in the queue of clean ones, which is circular.
struct buffer_header {
  UC_ALIGNED struct buffer_header *next, *previous;
};

static struct file {
  UC_ALIGNED struct spinlock own_lock;
  uint64_t offset;  // lines
  bool in_use;      // a task reads at the offset and will advance it
  struct data* pages;
  struct data* buffer;                     // private to the reading task
  struct buffer_header* cached;            // of the file's pages
  UC_ALIGNED _Atomic uint64_t vnode_lock;  // shared holders
}* files;

static char* pool_locks;

static struct common {
  UC_ALIGNED struct spinlock lock;
  _Atomic uint64_t references;
  uint64_t reads;
  UC_ALIGNED struct mtx queue_lock;
  UC_ALIGNED struct buffer_header queue;
}* common;

static struct task {
  UC_ALIGNED uint64_t reads;
}* tasks;

static uint64_t lines;  // number of lines of one read

static uint64_t content(unsigned id, uint64_t line) { return (uint64_t)id << 32 | line; }

static void buffer_insert(struct buffer_header* buffer) {
  buffer->next = &common->queue;
  buffer->previous = common->queue.previous;
  buffer->previous->next = buffer;
  common->queue.previous = buffer;
}

static void buffer_remove(struct buffer_header* buffer) {
  buffer->previous->next = buffer->next;
  buffer->next->previous = buffer->previous;
}

void uc_setup(unsigned n) {
  lines = bytes / LINE_BYTES;
  uc_require(lines && pool_stride >= sizeof(struct spinlock) && pool_stride % 8 == 0,
             "bytes must be 64 or more, pool_stride a multiple of 8, at least 8");
  pool_locks = uc_alloc(pool * pool_stride + 1, 0);
  common = uc_alloc(sizeof *common, 0);
  common->queue.next = common->queue.previous = &common->queue;
  if (serial == QUEUE) mtx_setup(n);
  files = uc_alloc(n * sizeof *files, 0);
  tasks = uc_alloc(n * sizeof *tasks, 0);
  for (unsigned id = 0; id < n; id++) {
    files[id].pages = uc_alloc(BLOCKS * lines * sizeof(struct data), 0);
    files[id].buffer = uc_alloc(lines * sizeof(struct data), 0);
    for (uint64_t line = 0; line < BLOCKS * lines; line++)
      files[id].pages[line].content = content(id, line);
    if (serial == QUEUE) buffer_insert(files[id].cached = uc_alloc(sizeof *files[id].cached, 0));
  }
}

// Returns a file's offset lock. Fibonacci hashing replaces the hash of an address.
static struct spinlock* offset_lock(unsigned id) {
  if (!pool) return &files[id].own_lock;
  uint64_t hash = id * 0x9E3779B97F4A7C15ull >> 32;
  return (struct spinlock*)(pool_locks + hash % pool * pool_stride);
}

// Marks the offset as in use. The mutex guards this flag, and is not held during the read.
static uint64_t offset_take(unsigned id) {
  struct file* file = &files[id];
  struct spinlock* lock = offset_lock(id);
  spin_lock(lock);
  uc_check(!file->in_use, "two tasks read at one offset");
  file->in_use = true;
  spin_unlock(lock);
  return file->offset;
}

static void offset_give(unsigned id, uint64_t offset) {
  struct file* file = &files[id];
  struct spinlock* lock = offset_lock(id);
  spin_lock(lock);
  if (!UC_SABOTAGE) file->offset = offset;
  file->in_use = false;
  spin_unlock(lock);
}

static void system_enter(void) {
  if (serial == LINE) atomic_fetch_add_explicit(&common->references, 1, memory_order_acquire);
  if (serial != LOCK) return;
  spin_lock(&common->lock);
  common->reads++;
  uc_work((int64_t)lock_work);
  spin_unlock(&common->lock);
}

static void system_leave(struct file* file) {
  if (serial == LINE) atomic_fetch_sub_explicit(&common->references, 1, memory_order_release);
  if (serial != QUEUE) return;
  if (!UC_SABOTAGE) mtx_lock(&common->queue_lock);
  buffer_remove(file->cached);
  buffer_insert(file->cached);
  if (!UC_SABOTAGE) mtx_unlock(&common->queue_lock);
}

static void copy(struct file* file, uint64_t offset) {
  atomic_fetch_add_explicit(&file->vnode_lock, 1, memory_order_acquire);
  for (uint64_t line = 0; line < lines; line++)
    file->buffer[line].content = file->pages[offset + line].content;
  atomic_fetch_sub_explicit(&file->vnode_lock, 1, memory_order_release);
}

static void call(unsigned id) {
  struct file* file = &files[id];
  uc_work((int64_t)work);
  uint64_t offset = offset_take(id);
  system_enter();
  copy(file, offset);
  system_leave(&files[id]);
  offset_give(id, (offset + lines) % (BLOCKS * lines));

  uint64_t wanted = tasks[id].reads++ % BLOCKS * lines;
  uc_check(file->buffer[0].content == content(id, wanted), "not the next block of this file");
  uc_check(file->buffer[lines - 1].content == content(id, wanted + lines - 1), "half a block");
}

void uc_finish(unsigned n) {
  uc_check(common->references == 0, "references were lost");
  struct buffer_header* buffer = common->queue.next;
  for (; serial == QUEUE && n; n--, buffer = buffer->next)
    uc_check(buffer->next->previous == buffer, "the queue of clean buffers is torn");
  uc_check(buffer == &common->queue, "buffers were lost");
}
