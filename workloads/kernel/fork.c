// fork and exec compared with posix_spawn, which copies nothing that exec would throw away.
//
// Clements (2014, section on decomposing compound operations): fork takes a snapshot of everything
// that a process has, so it commutes with hardly any other call of the process. exec, which almost
// always follows, throws most of it away. posix_spawn states at once what the child gets.
//
// The shared lines that fork of FreeBSD 12 writes (fork1 and do_fork in kern/kern_fork.c): the
// system's list of processes under the sx lock allproc, while a number is found and the child is
// listed, with the lock of the process tree (proctree) shared; then proctree is locked exclusively
// to make it a child of its parent; the credential's count (crhold); for each descriptor the count
// of its open file (fdcopy, fhold); for each map entry the count of its object, under the object's
// lock (vm_object_reference in vmspace_fork). The parent's entries become read-only, so all harts
// on which it runs drop translations; here each reads a line instead (ipi/shootdown has the
// interrupts). exec closes close-on-exec files and empties the map (exec_new_vmspace); the child's
// end drops the rest. `how=spawn` counts only the `inherit` descriptors that the child gets, and
// copies no map.
//
// Forks of several processes contend for allproc and for the files that they have in common (as
// children of one shell do: `shared`). Forks by threads of one process contend for everything.
// spawn still writes allproc and the files, but not the lines of the map, so with many entries it
// is faster.
//
// Check: all references are given back, and no two living children have the same number.
#include "calls.h"
#include "credential.h"
#include "mtx.h"
#include "process.h"
#include "rwlock.h"
#include "sx.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path fork and exec, or posix_spawn, and the child's end");
enum how { FORK_EXEC, SPAWN };
UC_PARAM(choice, how, FORK_EXEC, "fork|spawn", "a snapshot that exec throws away, or none");
UC_PARAM(u64, descriptors, 16, "files", "that a process has open");
UC_PARAM(u64, inherit, 3, "files", "of them that a child keeps: standard input, output, error");
UC_PARAM(u64, entries, 32, "entries", "of a process's map, an object each");
UC_PARAM(u64, shared, 3, "files",
         "of each process that are the same ones, as a shell's children's");
UC_PARAM(u64, work, 20000, "instructions", "entry, exit and private work of one child");

struct file {
  UC_ALIGNED _Atomic uint64_t references;
};

struct object {
  UC_ALIGNED struct rwlock lock;
  uint64_t references;
};

// A process; with tasks=threads all tasks share the first one.
static struct process {
  UC_ALIGNED struct sx table, map;  // table of descriptors
  struct file** files;
  struct object* objects;
  UC_ALIGNED _Atomic uint64_t translations;  // number of map changes; each call reads it
}* processes;

#define NUMBERS 4096

static struct all_processes {
  UC_ALIGNED struct sx tree;
  uint64_t children;
  UC_ALIGNED struct sx list;
  uint64_t last_number, living;
  uint64_t used[NUMBERS / 64];  // a bit for each process number
}* all_processes;

static void file_hold(struct file* file) {
  atomic_fetch_add_explicit(&file->references, 1, memory_order_relaxed);
}

static void file_drop(struct file* file) {
  uint64_t before = atomic_fetch_sub_explicit(&file->references, 1, memory_order_release);
  uc_check(before > 1, "an open file was dropped more often than held");
}

static void object_count(struct object* object, int amount) {
  rw_wlock(&object->lock);
  object->references += (uint64_t)amount;
  rw_wunlock(&object->lock);
}

// ---- Numbers and lists --------------------------------------------------------------------------

static bool number_used(uint64_t number) {
  return all_processes->used[number / 64] >> number % 64 & 1;
}

static void number_flip(uint64_t number) {
  all_processes->used[number / 64] ^= 1ull << number % 64;
}

static void list_lock(void) {
  if (!UC_SABOTAGE) sx_xlock(&all_processes->list);
}

static void list_unlock(void) {
  if (!UC_SABOTAGE) sx_xunlock(&all_processes->list);
}

static void tree_change(int amount) {
  sx_xlock(&all_processes->tree);
  all_processes->children += (uint64_t)amount;
  sx_xunlock(&all_processes->tree);
}

static uint64_t child_enlist(void) {
  sx_slock(&all_processes->tree);
  list_lock();
  uint64_t number = (all_processes->last_number + 1) % NUMBERS;
  while (number_used(number)) number = (number + 1) % NUMBERS;
  sx_sunlock(&all_processes->tree);
  number_flip(number);
  all_processes->last_number = number;
  all_processes->living++;
  list_unlock();
  tree_change(1);
  return number;
}

static void child_delist(uint64_t number) {
  tree_change(-1);
  list_lock();
  uc_check(number_used(number), "two children had one number");
  number_flip(number);
  all_processes->living--;
  list_unlock();
}

// ---- The calls ----------------------------------------------------------------------------------

static uint64_t files_copied(void) {
  return how == SPAWN && inherit < descriptors ? inherit : descriptors;
}

static void table_copy(struct process* parent) {
  sx_slock(&parent->table);
  for (uint64_t i = 0; i < files_copied(); i++) file_hold(parent->files[i]);
  sx_sunlock(&parent->table);
}

// Copies the map: every entry becomes copy-on-write, in the parent too.
static void map_copy(struct process* parent) {
  sx_xlock(&parent->map);
  for (uint64_t i = 0; i < entries; i++) object_count(&parent->objects[i], 1);
  atomic_fetch_add_explicit(&parent->translations, 1, memory_order_relaxed);
  sx_xunlock(&parent->map);
}

static void map_drop(struct process* parent) {
  for (uint64_t i = 0; i < entries; i++) object_count(&parent->objects[i], -1);
}

static void files_drop(struct process* parent, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++) file_drop(parent->files[i]);
}

static void call(unsigned id) {
  struct process* parent = &processes[process_of(id)];
  (void)atomic_load_explicit(&parent->translations, memory_order_acquire);
  uint64_t copied = files_copied(), kept = inherit < copied ? inherit : copied;
  uint64_t number = child_enlist();
  credential_hold();
  table_copy(parent);
  if (how == FORK_EXEC) map_copy(parent);
  uc_work((int64_t)work / 2);
  files_drop(parent, kept, copied);        // exec closes the close-on-exec files
  if (how == FORK_EXEC) map_drop(parent);  // exec empties the map
  uc_work((int64_t)work / 2);
  files_drop(parent, 0, kept);
  credential_free();
  child_delist(number);
}

// ---- Setup --------------------------------------------------------------------------------------

static struct file* file_make(void) {
  struct file* file = uc_alloc(sizeof *file, 0);
  file->references = 1;
  return file;
}

void uc_setup(unsigned n) {
  mtx_setup(n);
  credential_setup();
  all_processes = uc_alloc(sizeof *all_processes, 0);
  sx_init(&all_processes->tree, n);
  sx_init(&all_processes->list, n);
  processes = uc_alloc(n * sizeof *processes, 0);
  for (unsigned i = 0; i < n; i++) {
    struct process* process = &processes[i];
    sx_init(&process->table, n);
    sx_init(&process->map, n);
    process->files = uc_alloc((descriptors + 1) * sizeof *process->files, uc_node_of(i));
    process->objects = uc_alloc((entries + 1) * sizeof *process->objects, uc_node_of(i));
    for (uint64_t k = 0; k < descriptors; k++)
      process->files[k] = k < shared && i ? processes[0].files[k] : file_make();
    for (uint64_t k = 0; k < entries; k++) rw_init(&process->objects[k].lock, n);
  }
}

void uc_finish(unsigned n) {
  uc_check(!all_processes->living && !all_processes->children, "a child is still listed");
  for (unsigned i = 0; i < n; i++) {
    for (uint64_t k = 0; k < descriptors; k++)
      uc_check(processes[i].files[k]->references == 1, "references to a file were lost");
    for (uint64_t k = 0; k < entries; k++)
      uc_check(processes[i].objects[k].references == 0, "references to an object were lost");
  }
  credential_check(0);
}
