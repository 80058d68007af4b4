// open and close: the lowest free descriptor, or any.
//
// POSIX wants open() to return the lowest descriptor that is free. So two opens in one process
// never commute: each must know which numbers the other took, and they meet at the table's lock and
// at one word of its bitmap. Clements (2014) made it his example of an interface that cannot scale,
// and let sv6's O_ANYFD return any free descriptor: then each hart takes them from a part of the
// table that is its own, and no line is shared. Processes instead of threads have a table each.
//
// Before a descriptor there is a path to look up. `lookup` counted references and locks the
// directories on the way, lines for all processes of the system (vnode.h: FreeBSD 11 and 12, which
// count the open files of the system, too); free reads them (Linux's path walk under RCU).
//
// Check: a descriptor belongs to one open file until it is closed; the lowest one is less than the
// number of files that can be open at once; references are given back.
#define TASKS THREADS
#include "calls.h"
#include "credential.h"
#include "process.h"
#include "sx.h"
#include "uncore.h"
#include "vnode.h"

UC_WORKLOAD("Kernel path open and close: the lowest free descriptor, or any");
enum kind { OPEN, CLOSE };
UC_KINDS("open|close");
enum rule { LOWEST, ANY };
UC_PARAM(choice, rule, LOWEST, "lowest|any", "which free descriptor an open returns");
enum lookup { FREE, COUNTED };
UC_PARAM(choice, lookup, FREE, "free|counted", "whether a path lookup references directories");
UC_PARAM(u64, work, 10000, "instructions", "entry, exit and private work of open and close");
UC_PARAM(u64, files, 1, "files", "a task opens so many, then closes them");

#define WORD 64  // descriptors in one word of a bitmap

// Descriptors, and the open file of each: a process's, or with rule=any one task's.
static struct table {
  UC_ALIGNED struct sx lock;
  uint64_t* used;  // bitmap
  _Atomic(void*)* slots;
  uint64_t size;
}* tables;

// A task's open files; who they are is all that counts here.
static struct file {
  UC_ALIGNED uint64_t descriptor;
}* opened;

// Of the whole system.
static struct open_files {
  UC_ALIGNED _Atomic uint64_t number;
}* open_files;

static struct table* table_of(unsigned id) { return &tables[rule == ANY ? id : process_of(id)]; }

static void table_make(struct table* table, uint64_t size, unsigned n) {
  sx_init(&table->lock, n);
  table->used = uc_alloc((size + WORD - 1) / WORD * sizeof *table->used, 0);
  table->slots = uc_alloc(size * sizeof *table->slots, 0);
  table->size = size;
}

void uc_setup(unsigned n) {
  bool one_table = rule == LOWEST && tasks == THREADS;
  tables = uc_alloc(n * sizeof *tables, 0);
  opened = uc_alloc(n * files * sizeof *opened, 0);
  open_files = uc_alloc(sizeof *open_files, 0);
  vnode_setup(n, n * files);
  credential_setup();
  for (unsigned i = 0; i < (one_table ? 1 : n); i++)
    table_make(&tables[i], one_table ? n * files : files, n);
}

// The table's lock keeps the process's root where it is meanwhile.
static void look_up_path(struct table* table, struct file* file) {
  if (lookup == FREE) return;
  sx_slock(&table->lock);
  sx_sunlock(&table->lock);
  vnode_look_up((uint64_t)(file - opened));
}

static void count_open(int by) {
  if (lookup == COUNTED)
    atomic_fetch_add_explicit(&open_files->number, (uint64_t)by, memory_order_relaxed);
}

// The lowest bit that is not set in the bitmap; there always is one.
static uint64_t lowest_free(struct table* table) {
  uint64_t word = 0;
  while (table->used[word] == UINT64_MAX) word++;
  return word * WORD + (uint64_t)__builtin_ctzll(~table->used[word]);
}

static void table_lock(struct table* table) {
  if (!UC_SABOTAGE) sx_xlock(&table->lock);
}

static void table_unlock(struct table* table) {
  if (!UC_SABOTAGE) sx_xunlock(&table->lock);
}

static void open_file(struct table* table, struct file* file) {
  uc_kind(OPEN);
  count_open(1);
  credential_hold();
  look_up_path(table, file);
  uc_work((int64_t)work / 2);
  table_lock(table);
  uint64_t descriptor = lowest_free(table);
  table->used[descriptor / WORD] |= 1ull << descriptor % WORD;
  table_unlock(table);
  uc_check(descriptor < table->size, "not the lowest descriptor");
  void* before = atomic_exchange_explicit(&table->slots[descriptor], file, memory_order_release);
  uc_check(!before, "a descriptor that is in use was given out again");
  file->descriptor = descriptor;
}

static void close_vnode(struct file* file) {
  vnode_write_begin();
  vnode_put((uint64_t)(file - opened));
  vnode_write_end();
}

static void close_file(struct table* table, struct file* file) {
  uc_kind(CLOSE);
  uint64_t descriptor = file->descriptor;
  uc_work((int64_t)work / 2);
  table_lock(table);
  void* before = atomic_load_explicit(&table->slots[descriptor], memory_order_relaxed);
  atomic_store_explicit(&table->slots[descriptor], NULL, memory_order_relaxed);
  table->used[descriptor / WORD] &= ~(1ull << descriptor % WORD);
  table_unlock(table);
  uc_check(before == file, "a descriptor meant another file before it was closed");
  if (lookup == COUNTED) close_vnode(file);
  credential_free();
  count_open(-1);
}

static void call(unsigned id) {
  struct table* table = table_of(id);
  struct file* mine = &opened[id * files];
  for (uint64_t i = 0; i < files; i++) open_file(table, &mine[i]);
  for (uint64_t i = 0; i < files; i++) close_file(table, &mine[i]);
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(open_files->number == 0, "open files were counted wrongly");
  vnode_check();
  credential_check(0);
}
