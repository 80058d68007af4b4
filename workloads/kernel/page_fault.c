// Page faults of anonymous memory: a page from the free list, zeroed, put on the active queue.
//
// A task touches `pages` pages, one fault each, then unmaps them all. A fault takes the map shared,
// locks the memory object, takes a free page, fills it with zeros and enters it into the queue that
// the page daemon scans. Map and object belong to a process; the lists of pages are the system's:
//
//   global  one free list, one active queue, a lock each: FreeBSD 11, DragonFly before 2017
//   numa    a pair of lists for each memory node, whose pages are near: FreeBSD 12
//   percpu  a pair for each hart: DragonFly's page colours (Dillon 2017), where no two CPUs meet
//
// FreeBSD 12 does more: a process takes its pages from a reservation of its own, of 2 MB, so that
// the node's free pages are only counted, by a compare-and-swap (`reservations`; vm_domain_allocate
// in its vm/vm_page.c), and a CPU enters several pages into the queue at a time (`batch`; seven,
// VM_BATCHQUEUE_SIZE in its vm/vm_pagequeue.h).
//
// Linux has no lock for all pages of an object, but one for each page table of 512 pages, which
// tasks with memory of their own do not share (`guard` tables; pte_offset_map_lock in
// do_anonymous_page of 4.15's mm/memory.c). And who unmaps holds the map exclusively until all
// pages are gone (`unmapping`; mmap_sem in vm_munmap of its mm/mmap.c): meanwhile no thread of the
// process can fault, and that share of the work is what their number cannot divide. (There who
// finds the map held sleeps; here it spins.) The other systems' unmapping has not been looked at:
// for them `unmapping` is 0.
//
// Dillon found what remained in statistics: global counters that each fault increments, a
// microsecond or two each on a large machine. `counters` says how many, `statistics` where they
// are. FreeBSD 12 handled 20 to 80 times as many faults as 11 (Macy 2018), DragonFly three times as
// many as before. Threads of one process meet at its map and object whatever the lists are.
//
// Check: no page has two owners, none is lost, and every fault was counted. The table tells how
// many pages came from the task's own memory node.
#define CALLS_WARMUP 8  // so that each task has used its pages once
#include "calls.h"
#include "percpu_counter.h"
#include "process.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path page fault: page lists global, per node or per CPU");
enum queues { GLOBAL, NUMA, PERCPU };
UC_PARAM(choice, queues, GLOBAL, "global|numa|percpu", "how many lists of pages there are");
UC_PARAM(bool, reservations, 0, "",
         "a process has free pages of its own, and the list counts them");
UC_PARAM(u64, batch, 1, "pages", "entered into the active queue at a time, or taken from it");
UC_PARAM(u64, counters, 0, "counters", "statistics that each fault increments");
enum statistics { IN_ONE_LINE, IN_PARTS };
UC_PARAM(choice, statistics, IN_ONE_LINE, "global|percpu", "where those are counted");
UC_PARAM(bool, zero, 1, "", "fill a page with zeros, which moves its lines");
UC_PARAM(u64, pages, 4, "pages", "a task touches so many, then unmaps them");
UC_PARAM(u64, work, 5000, "instructions", "entry, exit and private work of one fault");
enum guard { OBJECT, TABLES };
UC_PARAM(choice, guard, OBJECT, "object|tables",
         "what locks a process's pages: its memory object, or a page table for each task");
UC_PARAM(u64, unmapping, 0, "%",
         "of work is done when the page is unmapped, with the map held exclusively; 0: not held");
UC_TABLE(taken, "pages", "near the task that took them, far from it");

#define PAGE_BYTES 4096
#define LINE_WORDS (64 / sizeof(uint64_t))

struct page {
  UC_ALIGNED struct page *next, *previous;
  _Atomic uint64_t owner;  // task plus one; 0: free
  uint64_t* frame;
  unsigned node;
};

// A list of pages, circular, with a page that is none where it begins and ends.
struct list {
  UC_ALIGNED struct spinlock lock;
  struct page end;
};

static struct domain {
  struct list free, active;
  UC_ALIGNED _Atomic uint64_t available;  // free pages, where reservations have them
}* domains;

// What locks pages, and how many of them there are.
struct guarded {
  UC_ALIGNED struct spinlock lock;
  uint64_t resident;
};

static struct process {
  UC_ALIGNED _Atomic uint64_t map_holders;  // the map's lock, shared; and MAP_WANTED
  struct guarded object;
  struct list reservation;
}* processes;

static struct guarded* tables;  // of pages, one for each task

static struct task {
  UC_ALIGNED uint64_t held, near, far;
  uint64_t entered;  // of those it holds, into the active queue
  struct page** pages;
}* all_tasks;

static struct percpu_counter** counts;

static unsigned lists;

static unsigned domain_of(unsigned id) {
  return queues == PERCPU ? id : queues == NUMA ? uc_node_of(id) : 0;
}

// ---- Lists --------------------------------------------------------------------------------------

static void list_make(struct list* list) { list->end.next = list->end.previous = &list->end; }

static void list_insert(struct list* list, struct page* page) {
  struct page* last = list->end.previous;
  page->next = &list->end;
  page->previous = last;
  last->next = page;
  list->end.previous = page;
}

static void page_remove(struct page* page) {
  page->previous->next = page->next;
  page->next->previous = page->previous;
}

// ---- Setup --------------------------------------------------------------------------------------

static void page_make(struct list* list, unsigned node) {
  struct page* page = uc_alloc(sizeof *page, node);
  page->frame = uc_alloc(PAGE_BYTES, node);
  page->node = node;
  list_insert(list, page);
}

static void task_make(unsigned id) {
  all_tasks[id].pages = uc_alloc(pages * sizeof(struct page*), 0);
  struct domain* domain = &domains[domain_of(id)];
  struct list* list = reservations ? &processes[process_of(id)].reservation : &domain->free;
  for (uint64_t i = 0; i < pages; i++) page_make(list, uc_node_of(id));
  domain->available += pages;
}

void uc_setup(unsigned n) {
  uc_require(pages && batch && unmapping < 100,
             "pages and batch must be 1 or more, unmapping below 100");
  lists = queues == PERCPU ? n : queues == NUMA ? uc_nodes() : 1;
  domains = uc_alloc(lists * sizeof *domains, 0);
  for (unsigned i = 0; i < lists; i++) list_make(&domains[i].free), list_make(&domains[i].active);
  processes = uc_alloc(n * sizeof *processes, 0);
  for (unsigned i = 0; i < n; i++) list_make(&processes[i].reservation);
  tables = uc_alloc(n * sizeof *tables, 0);
  all_tasks = uc_alloc(n * sizeof *all_tasks, 0);
  for (unsigned id = 0; id < n; id++) task_make(id);
  counts = uc_alloc(counters * sizeof *counts + 1, 0);
  for (uint64_t i = 0; i < counters; i++) counts[i] = percpu_counter_make(n, UC_BLOCK, 0);
  uc_table_make(&taken, 1, 2);
}

// ---- The map ------------------------------------------------------------------------------------

// Somebody holds the map exclusively, or will when those have left who share it.
#define MAP_WANTED (1ull << 32)

static void map_await(struct process* process) {
  while (atomic_load_explicit(&process->map_holders, memory_order_relaxed) & MAP_WANTED) uc_pause();
}

static void map_leave(struct process* process) {
  atomic_fetch_sub_explicit(&process->map_holders, 1, memory_order_release);
}

static void map_share(struct process* process) {
  while (atomic_fetch_add_explicit(&process->map_holders, 1, memory_order_acquire) & MAP_WANTED) {
    map_leave(process);
    map_await(process);
  }
}

static void map_lock(struct process* process) {
  while (atomic_fetch_or_explicit(&process->map_holders, MAP_WANTED, memory_order_acquire) &
         MAP_WANTED)
    map_await(process);
  while (atomic_load_explicit(&process->map_holders, memory_order_acquire) != MAP_WANTED)
    uc_pause();
}

static void map_unlock(struct process* process) {
  atomic_fetch_and_explicit(&process->map_holders, ~MAP_WANTED, memory_order_release);
}

// ---- The path -----------------------------------------------------------------------------------

static void domain_reserve(struct domain* domain) {
  uint64_t before = atomic_load_explicit(&domain->available, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&domain->available, &before, before - 1,
                                                memory_order_relaxed, memory_order_relaxed))
    continue;
}

static struct page* list_take(struct list* list) {
  if (!UC_SABOTAGE) spin_lock(&list->lock);
  struct page* page = list->end.previous;
  page_remove(page);
  if (!UC_SABOTAGE) spin_unlock(&list->lock);
  return page;
}

static void list_give(struct list* list, struct page* page) {
  if (!UC_SABOTAGE) spin_lock(&list->lock);
  list_insert(list, page);
  if (!UC_SABOTAGE) spin_unlock(&list->lock);
}

static struct page* page_allocate(struct domain* domain, struct process* process) {
  if (!reservations) return list_take(&domain->free);
  domain_reserve(domain);
  return list_take(&process->reservation);
}

static void page_free(struct domain* domain, struct process* process, struct page* page) {
  list_give(reservations ? &process->reservation : &domain->free, page);
  if (reservations) atomic_fetch_add_explicit(&domain->available, 1, memory_order_relaxed);
}

// What the task holds and has not yet entered.
static void pages_activate(struct domain* domain, struct task* self) {
  spin_lock(&domain->active.lock);
  while (self->entered < self->held) list_insert(&domain->active, self->pages[self->entered++]);
  spin_unlock(&domain->active.lock);
}

static void pages_deactivate(struct domain* domain, struct task* self) {
  uint64_t least = self->entered > batch ? self->entered - batch : 0;
  spin_lock(&domain->active.lock);
  while (self->entered > least) page_remove(self->pages[--self->entered]);
  spin_unlock(&domain->active.lock);
}

static struct guarded* guarded_of(struct process* process, unsigned id) {
  return guard == TABLES ? &tables[id] : &process->object;
}

static void own(struct page* page, unsigned id) {
  uint64_t before = atomic_exchange_explicit(&page->owner, id + 1, memory_order_relaxed);
  uc_check(before == 0, "a page was given to two tasks");
}

static void disown(struct page* page, unsigned id) {
  uint64_t before = atomic_exchange_explicit(&page->owner, 0, memory_order_relaxed);
  uc_check(before == id + 1, "a page changed its owner while in use");
}

// One word stands for its line: what costs is the line, not the instructions of a wide store.
static void fill(struct page* page) {
  for (uint64_t at = 0; at < PAGE_BYTES / sizeof *page->frame; at += LINE_WORDS)
    page->frame[at] = 0;
}

static void count_fault(unsigned id) {
  for (uint64_t i = 0; i < counters; i++)
    if (statistics == IN_ONE_LINE)
      atomic_fetch_add_explicit(&counts[i]->total, 1, memory_order_relaxed);
    else
      percpu_counter_add(counts[i], id, 1, 0);
}

static void fault(unsigned id) {
  struct task* self = &all_tasks[id];
  struct process* process = &processes[process_of(id)];
  struct domain* domain = &domains[domain_of(id)];
  struct guarded* guarded = guarded_of(process, id);
  map_share(process);
  spin_lock(&guarded->lock);
  struct page* page = page_allocate(domain, process);
  guarded->resident++;
  spin_unlock(&guarded->lock);
  own(page, id);
  *(page->node == uc_node_of(id) ? &self->near : &self->far) += 1;
  if (zero) fill(page);
  self->pages[self->held++] = page;
  if (self->held - self->entered == batch) pages_activate(domain, self);
  count_fault(id);
  map_leave(process);
}

static void unmap(unsigned id) {
  struct task* self = &all_tasks[id];
  struct process* process = &processes[process_of(id)];
  struct guarded* guarded = guarded_of(process, id);
  if (unmapping) {
    map_lock(process);
    uc_work((int64_t)(self->held * work * unmapping / 100));
  }
  spin_lock(&guarded->lock);
  guarded->resident -= self->held;
  spin_unlock(&guarded->lock);
  struct domain* domain = &domains[domain_of(id)];
  if (self->entered < self->held) pages_activate(domain, self);
  while (self->entered) pages_deactivate(domain, self);
  while (self->held) {
    struct page* page = self->pages[--self->held];
    disown(page, id);
    page_free(domain, process, page);
  }
  if (unmapping) map_unlock(process);
}

static void call(unsigned id) {
  uc_work((int64_t)(work - work * unmapping / 100));
  fault(id);
  if (all_tasks[id].held == pages) unmap(id);
}

void uc_finish(unsigned n) {
  uint64_t faults = 0, resident = 0, held = 0;
  for (unsigned i = 0; i < n; i++) {
    struct task* task = &all_tasks[i];
    faults += task->near + task->far;
    *uc_cell(&taken, 0, 0) += task->near;
    *uc_cell(&taken, 0, 1) += task->far;
    held += task->held;
    resident += processes[i].object.resident + tables[i].resident;
  }
  uc_check(resident == held, "pages of an object were lost");
  uint64_t available = 0;
  for (unsigned i = 0; i < lists; i++) available += domains[i].available;
  uc_check(available + (reservations ? held : 0) == n * pages, "free pages were counted wrongly");
  for (uint64_t i = 0; i < counters; i++)
    uc_check((uint64_t)percpu_counter_sum(counts[i]) == faults, "faults were not counted");
}
