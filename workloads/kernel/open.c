// open and close: the lowest free descriptor, or any free one.
//
// POSIX requires open() to return the lowest free descriptor. So two opens in one process never
// commute: each must know which numbers the other took, and they contend for the table's lock and
// one word of its bitmap. This is the example of Clements (2014) for an interface that cannot
// scale; in his sv6 O_ANYFD returns any free descriptor. Then each hart takes descriptors from its
// own part of the table, and no line is shared. Processes have a table each.
//
// The table's lock (`guard`) is FreeBSD's sx, or Linux's queued spin lock. Both open and close
// take it; FreeBSD also takes it shared to reference the process's root (namei). Each change
// writes the lowest number that may be free: in FreeBSD (fd_freefile) on the line of the pointers
// that readers of the table need, in Linux (next_fd) on the line of the lock, where also the
// bitmap is until a 65th descriptor is needed (open_fds_init in struct files_struct of 4.15).
// FreeBSD sets a new descriptor's file before it unlocks (finstall), Linux after that
// (fd_install).
//
// An open also looks up a path. With `lookup=global` and `lookup=bucket` it references and locks
// the directories on the path, whose lines all processes share (vnode.h: FreeBSD 11 and 12 also
// count the open files of the system: falloc_noinstall and _fdrop in kern/kern_descrip.c). With
// `lookup=free` it is Linux's path walk under RCU, which writes only the file's own dentry, and
// counts open files and a mount's writers per CPU (path_openat in fs/namei.c, get_empty_filp in
// fs/file_table.c, mnt_want_write in fs/namespace.c of 4.15).
//
// With AppArmor, as in Ubuntu, each task has a security label, and all unconfined tasks have the
// same one. An open file refers to it from its allocation on, and opening it takes and drops
// another reference. So `label` adds four atomic additions to one line of the system
// (apparmor_file_alloc_security, apparmor_file_open and apparmor_file_free_security in
// security/apparmor/lsm.c of 4.15, whose kref is a plain count if REFCOUNT_FULL is not set).
//
// Check: a descriptor belongs to one open file until it is closed; the lowest free one is less than
// the number of files that can be open at once; references are given back.
#define TASKS THREADS
#include "calls.h"
#include "credential.h"
#include "process.h"
#include "queued_lock.h"
#include "sx.h"
#include "uncore.h"
#include "vnode.h"

UC_WORKLOAD("Kernel path open and close: the lowest free descriptor, or any");
enum kind { OPEN, CLOSE };
UC_KINDS("open|close");
enum rule { LOWEST, ANY };
UC_PARAM(choice, rule, LOWEST, "lowest|any", "which free descriptor an open returns");
enum guard { SX, QUEUED };
UC_PARAM(choice, guard, SX, "sx|queued", "the table's lock: FreeBSD's or Linux's");
UC_PARAM(bool, label, 0, "", "an open file refers to the security label of all tasks");
UC_PARAM(u64, work, 10000, "instructions", "entry, exit and private work of open and close");
UC_PARAM(u64, files, 1, "files", "a task opens so many, then closes them");

#define WORD 64     // descriptors in one word of a bitmap
#define STANDARD 3  // descriptors that every process has open

// The descriptor table of a process, or with rule=any of a task.
static struct table {
  UC_ALIGNED uint64_t *used, *bitmap;
  char* slots;
  uint64_t size;
  uint64_t free_from;  // guard=sx: no lower descriptor is free
  UC_ALIGNED union {
    struct sx sx;
    struct {
      union queued_lock queued;
      uint64_t free_from, used;
    };
  } guarded;
}* tables;
static struct queue_node* waiting;

// The tasks' open files. Only a file's address and its descriptor matter here.
static struct file {
  UC_ALIGNED uint64_t descriptor;
}* opened;

// The open files of the whole system.
static struct open_files {
  UC_ALIGNED _Atomic uint64_t number;
}* open_files;

static struct label {
  UC_ALIGNED _Atomic int64_t references;
}* unconfined;

static struct table* table_of(unsigned id) { return &tables[rule == ANY ? id : process_of(id)]; }

// FreeBSD stores 48 bytes for a descriptor: the file and its capability rights.
static uint64_t slot_size(void) { return guard == SX ? 48 : sizeof(void*); }

static _Atomic(void*)* slot_of(struct table* table, uint64_t descriptor) {
  return (_Atomic(void*)*)(table->slots + descriptor * slot_size());
}

static uint64_t* free_from(struct table* table) {
  return guard == SX ? &table->free_from : &table->guarded.free_from;
}

static void table_make(struct table* table, uint64_t size, unsigned n) {
  if (guard == SX) sx_init(&table->guarded.sx, n);
  table->bitmap = uc_alloc((size + WORD - 1) / WORD * sizeof *table->bitmap, 0);
  table->used = guard == SX ? table->bitmap : &table->guarded.used;
  table->slots = uc_alloc(size * slot_size(), 0);
  table->size = size;
}

void uc_setup(unsigned n) {
  uc_require(lookup == FREE || guard == SX, "who refers to directories holds the table's sx");
  bool one_table = rule == LOWEST && tasks == THREADS;
  tables = uc_alloc(n * sizeof *tables, 0);
  waiting = uc_alloc(n * sizeof *waiting, 0);
  opened = uc_alloc(n * files * sizeof *opened, 0);
  open_files = uc_alloc(sizeof *open_files, 0);
  unconfined = uc_alloc(sizeof *unconfined, 0);
  vnode_setup(n, n * files);
  credential_setup();
  for (unsigned i = 0; i < (one_table ? 1 : n); i++)
    table_make(&tables[i], one_table ? n * files : files, n);
}

// ---- The table ----------------------------------------------------------------------------------

static void table_lock(struct table* table, unsigned id) {
  if (UC_SABOTAGE) return;
  if (guard == SX)
    sx_xlock(&table->guarded.sx);
  else
    queue_lock(&table->guarded.queued, waiting, id);
}

static void table_unlock(struct table* table) {
  if (UC_SABOTAGE) return;
  if (guard == SX)
    sx_xunlock(&table->guarded.sx);
  else
    queue_unlock(&table->guarded.queued);
}

// Returns the lowest bit that is not set in the bitmap. There is always one.
static uint64_t lowest_free(struct table* table) {
  uint64_t word = *free_from(table) / WORD;
  while (table->used[word] == UINT64_MAX) word++;
  return word * WORD + (uint64_t)__builtin_ctzll(~table->used[word]);
}

static bool outgrows(struct table* table, uint64_t descriptor) {
  return table->used != table->bitmap && STANDARD + descriptor >= WORD;
}

static void table_grow(struct table* table) {
  table->bitmap[0] = *table->used;
  table->used = table->bitmap;
}

static uint64_t descriptor_take(struct table* table) {
  uint64_t descriptor = lowest_free(table);
  uc_check(descriptor < table->size, "not the lowest descriptor");
  if (outgrows(table, descriptor)) table_grow(table);
  table->used[descriptor / WORD] |= 1ull << descriptor % WORD;
  *free_from(table) = descriptor + 1;
  return descriptor;
}

static void descriptor_install(struct table* table, struct file* file, uint64_t descriptor) {
  _Atomic(void*)* slot = slot_of(table, descriptor);
  uc_check(!atomic_load_explicit(slot, memory_order_relaxed),
           "a descriptor that is in use was given out again");
  atomic_store_explicit(slot, file, memory_order_release);
  file->descriptor = descriptor;
}

static void descriptor_give_back(struct table* table, struct file* file, unsigned id) {
  uint64_t descriptor = file->descriptor;
  table_lock(table, id);
  _Atomic(void*)* slot = slot_of(table, descriptor);
  void* before = atomic_load_explicit(slot, memory_order_relaxed);
  atomic_store_explicit(slot, NULL, memory_order_relaxed);
  table->used[descriptor / WORD] &= ~(1ull << descriptor % WORD);
  if (descriptor < *free_from(table)) *free_from(table) = descriptor;
  table_unlock(table);
  uc_check(before == file, "a descriptor meant another file before it was closed");
}

// ---- FreeBSD ------------------------------------------------------------------------------------

static uint64_t number_of(struct file* file) { return (uint64_t)(file - opened); }

static void count_open(int amount) {
  atomic_fetch_add_explicit(&open_files->number, (uint64_t)amount, memory_order_relaxed);
}

// The table is locked meanwhile so that the process's root directory does not change.
static void look_up_path(struct table* table, struct file* file) {
  sx_slock(&table->guarded.sx);
  vnode_start();
  sx_sunlock(&table->guarded.sx);
  vnode_look_up(number_of(file));
}

static void open_referring(struct table* table, struct file* file, unsigned id) {
  count_open(1);
  credential_hold();
  look_up_path(table, file);
  uc_work((int64_t)work / 2);
  table_lock(table, id);
  descriptor_install(table, file, descriptor_take(table));
  table_unlock(table);
}

static void close_referring(struct table* table, struct file* file, unsigned id) {
  uc_work((int64_t)work / 2);
  descriptor_give_back(table, file, id);
  vnode_close(number_of(file));
  count_open(-1);
  credential_free();
}

// ---- Linux --------------------------------------------------------------------------------------

static void label_count(int amount) {
  if (label) atomic_fetch_add_explicit(&unconfined->references, amount, memory_order_relaxed);
}

static void open_walking(struct table* table, struct file* file, unsigned id) {
  table_lock(table, id);
  uint64_t descriptor = descriptor_take(table);
  table_unlock(table);
  credential_hold();
  label_count(1);
  uc_work((int64_t)work / 2);
  for (unsigned i = 0; i < 3; i++) credential_look();  // at the root, at /tmp, at the file
  label_count(1);
  label_count(-1);
  descriptor_install(table, file, descriptor);
}

// Closes a file. Linux drops the credential's reference later, by RCU; it is done here at once.
static void close_walking(struct table* table, struct file* file, unsigned id) {
  uc_work((int64_t)work / 2);
  descriptor_give_back(table, file, id);
  label_count(-1);
  credential_free();
}

static void open_file(struct table* table, struct file* file, unsigned id) {
  uc_kind(OPEN);
  (lookup == FREE ? open_walking : open_referring)(table, file, id);
}

static void close_file(struct table* table, struct file* file, unsigned id) {
  uc_kind(CLOSE);
  (lookup == FREE ? close_walking : close_referring)(table, file, id);
}

static void call(unsigned id) {
  struct table* table = table_of(id);
  struct file* own_files = &opened[id * files];
  for (uint64_t i = 0; i < files; i++) open_file(table, &own_files[i], id);
  for (uint64_t i = 0; i < files; i++) close_file(table, &own_files[i], id);
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(open_files->number == 0, "open files were counted wrongly");
  uc_check(unconfined->references == 0, "references to the label were lost");
  vnode_check();
  credential_check(0);
}
