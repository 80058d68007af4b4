// Page faults of anonymous memory: take a free page, zero it, put it on the page daemon's queue.
//
// A task touches `pages` pages, one fault each, then unmaps them, with its map locked exclusively.
// Map and object belong to a process; free pages and queues belong to the system (`queues`):
//
//   global  one free list, one active queue, a lock each: FreeBSD 11, DragonFly before 2017
//   numa    a pair of lists for each memory node, whose pages are near: FreeBSD 12, Linux
//   percpu  a pair for each hart: DragonFly's page colours (Dillon 2017), without contention
//
// The kernels allocate and free a page differently (`pool`):
//
//   list      under their lock: DragonFly
//   reserved  FreeBSD 11: a task has a reservation of 2 MB. Under the lock of all free pages, its
//             pages are counted, and it moves to the end of the queue of reservations partly in
//             use (vm_page_alloc and vm_page_free_toq in its vm/vm_page.c, vm_reserv_populate
//             and vm_reserv_depopulate in its vm/vm_reserv.c)
//   counted   FreeBSD 12: the reservation has its own lock, and keeps its place in that queue
//             for a tick; the node's free pages are counted, by a compare-and-swap and an addition
//             (vm_domain_allocate in 12.0's vm/vm_page.c, vm_reserv_depopulate in its
//             vm/vm_reserv.c)
//   bulk      Linux: a CPU takes 31 pages under the zone's lock, and gives as many back
//             (rmqueue_bulk and free_pcppages_bulk in 4.15's mm/page_alloc.c). The CPU's list of
//             up to 155 more is left out: it is half a percent of the benchmark's pages
//
// `batch` pages, collected on a list of the CPU, enter the queue at once under its lock: one in
// FreeBSD 11; 8 in 12 (VM_BATCHQUEUE_SIZE and the page that finds the list full:
// vm_pqbatch_submit_page in 12.0's vm/vm_page.c), where as many also leave at once; 14 on Linux,
// where up to 32 leave at once (PAGEVEC_SIZE, and SWAP_CLUSTER_MAX in release_pages of 4.15's
// mm/swap.c).
//
// Different locks guard the pages of a process (`guard`):
//
//   object  FreeBSD: a fault locks the map shared, locks the memory object shared, finds no page,
//           and locks the object exclusively three times: to allocate and zero the page, to queue
//           it, and to drop the object's reference (vm_fault_hold in 12.0's vm/vm_fault.c,
//           vm_object_deallocate in its vm/vm_object.c). Mappings of a process's threads are
//           adjacent, and share one object (vm_map_insert in 11.2's vm/vm_map.c)
//   tables  Linux: a lock for each page table of 512 pages, which tasks with their own memory do
//           not share, taken after the page is filled (do_anonymous_page in 4.15's mm/memory.c).
//           The map is locked shared by a compare-and-swap and unlocked by an addition
//           (down_read_trylock and up_read of mmap_sem; if it is held Linux sleeps, this model
//           spins). `unmapping` is vm_munmap's share of the work, with the map locked exclusively
//
// Left out: work done once in 168 or 512 pages (mapping entries, page tables, reservations), and
// counters that are kept per CPU.
//
// All these kernels fill a page with plain stores (rep stosq: pagezero in FreeBSD's
// amd64/amd64/support.S), and the benchmark's 128 MB do not fit into caches. Here `frames` decides:
// a few frames stay in a task's caches; if there are more than it fills in a run, all lines come
// from memory, which is far slower in this model than in a real machine (docs/deviations.md).
//
// The last bottleneck that Dillon found was statistics: global counters that each fault increments,
// at a microsecond or two each on a large machine. `counters` is their number, `statistics` their
// place. FreeBSD 12 handled 20 to 80 times as many faults as 11 (Macy 2018), DragonFly three times
// as many as before.
//
// Check: no page has two owners, none is lost, in a queue or out of it, and every fault is counted.
// The table shows how many pages came from the task's own memory node.
#define CALLS_WARMUP 8  // so that each task has used its pages once
#include "calls.h"
#include "mtx.h"
#include "percpu_counter.h"
#include "process.h"
#include "queued_lock.h"
#include "rwlock.h"
#include "sx.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path page fault: page lists global, per node or per CPU");
enum queues { GLOBAL, NUMA, PERCPU };
UC_PARAM(choice, queues, GLOBAL, "global|numa|percpu", "how many lists of pages there are");
enum pool { LIST, RESERVED, COUNTED, BULK };
UC_PARAM(choice, pool, LIST, "list|reserved|counted|bulk", "how free pages are taken");
UC_PARAM(u64, batch, 1, "pages", "entered into the active queue at a time");
UC_PARAM(u64, counters, 0, "counters", "statistics that each fault increments");
enum statistics { IN_ONE_LINE, IN_PARTS };
UC_PARAM(choice, statistics, IN_ONE_LINE, "global|percpu", "where those are counted");
UC_PARAM(bool, zero, 1, "", "fill a page with zeros, which moves its lines");
UC_PARAM(u64, frames, 4, "pages", "that a task fills in turn: a few stay in its caches");
UC_PARAM(u64, pages, 4, "pages", "a task touches so many, then unmaps them");
UC_PARAM(u64, work, 5000, "instructions", "entry, exit and private work of one fault");
enum guard { OBJECT, TABLES };
UC_PARAM(choice, guard, OBJECT, "object|tables",
         "what locks a process's pages: its memory object, or a page table for each task");
UC_PARAM(u64, unmapping, 0, "%", "of work is done when the page is unmapped");
UC_TABLE(taken, "pages", "near the task that took them, far from it");

#define PAGE_BYTES 4096
#define LINE_WORDS (64 / sizeof(uint64_t))
#define PCP_BATCH 31  // Linux's zone_batchsize, where memory is large
#define SWAP_CLUSTER_MAX 32

// A link of a circular list.
struct link {
  struct link *next, *previous;
};

struct page {
  UC_ALIGNED struct link link;
  _Atomic uint64_t owner;  // task plus one; 0: free
  unsigned node;
};

// Ends, length and lock on one line, as in FreeBSD's struct vm_pagequeue.
struct list {
  UC_ALIGNED struct link ends;
  uint64_t length;
  union {
    struct mtx mtx;
    union queued_lock queued;
  } lock;
};

static struct domain {
  struct list free, active;               // pages; pool=reserved: `free` lists reservations
  UC_ALIGNED _Atomic uint64_t available;  // number of free pages, in reservations. FreeBSD 11 has
                                          // two such counts, whose misses overlap
}* domains;

static struct process {
  UC_ALIGNED union {
    struct sx sx;
    _Atomic uint64_t holders;  // shared holders, and the bit MAP_WANTED
  } map;
  UC_ALIGNED struct rwlock object;
  uint64_t resident;
}* processes;

static struct table {
  UC_ALIGNED struct spinlock lock;
  uint64_t resident;
}* tables;  // page tables, one for each task

static struct task {
  UC_ALIGNED uint64_t held, near, far;
  uint64_t entered;  // number of held pages that are in the active queue
  struct page** pages;
  uint64_t* memory;
  UC_ALIGNED struct link reservation;  // pool=reserved: in the queue of partly used reservations
  struct list spare;                   // free pages: of its reservation, or (pool=bulk) of its CPU
}* all_tasks;

static struct queue_node* waiting;

static struct percpu_counter** counts;

static unsigned lists;

static struct domain* domain_of(unsigned id) {
  return &domains[queues == PERCPU ? id : queues == NUMA ? uc_node_of(id) : 0];
}

// ---- Lists --------------------------------------------------------------------------------------

static void list_make(struct list* list) { list->ends.next = list->ends.previous = &list->ends; }

static void link_insert(struct list* list, struct link* link) {
  struct link* last = list->ends.previous;
  link->next = &list->ends;
  link->previous = last;
  last->next = link;
  list->ends.previous = link;
  list->length++;
}

static void link_remove(struct list* list, struct link* link) {
  link->previous->next = link->next;
  link->next->previous = link->previous;
  list->length--;
}

static struct page* list_pop(struct list* list) {
  struct link* last = list->ends.previous;
  link_remove(list, last);
  return (struct page*)last;
}

static void list_lock(struct list* list, unsigned id) {
  if (UC_SABOTAGE) return;
  if (guard == TABLES)
    queue_lock(&list->lock.queued, waiting, id);
  else
    mtx_lock(&list->lock.mtx);
}

static void list_unlock(struct list* list) {
  if (UC_SABOTAGE) return;
  if (guard == TABLES)
    queue_unlock(&list->lock.queued);
  else
    mtx_unlock(&list->lock.mtx);
}

// ---- Setup --------------------------------------------------------------------------------------

static void process_make(unsigned i, unsigned n) {
  if (guard == OBJECT) sx_init(&processes[i].map.sx, n);
  rw_init(&processes[i].object, n);
}

static bool in_reservations(void) { return pool == RESERVED || pool == COUNTED; }

static void task_make(unsigned id) {
  struct task* self = &all_tasks[id];
  struct domain* domain = domain_of(id);
  struct list* list = in_reservations() ? &self->spare : &domain->free;
  list_make(&self->spare);
  self->pages = uc_alloc(pages * sizeof(struct page*), 0);
  self->memory = uc_alloc(frames * PAGE_BYTES, uc_node_of(id));
  for (uint64_t i = 0; i < pages + (pool == BULK ? PCP_BATCH : 0); i++) {
    struct page* page = uc_alloc(sizeof *page, uc_node_of(id));
    page->node = uc_node_of(id);
    link_insert(list, &page->link);
  }
  domain->available += pages;
  if (pool == RESERVED) link_insert(&domain->free, &self->reservation);
}

// Each task starts with more pages than the one before, so that they do not unmap together.
static void task_begin(unsigned id, unsigned n) {
  struct task* self = &all_tasks[id];
  struct domain* domain = domain_of(id);
  for (; self->held < pages * id / n; self->held++) {
    struct page* page = list_pop(in_reservations() ? &self->spare : &domain->free);
    page->owner = id + 1;
    self->pages[self->held] = page;
    link_insert(&domain->active, &page->link);
  }
  self->entered = self->held;
  domain->available -= self->held;
  *(guard == OBJECT ? &processes[process_of(id)].resident : &tables[id].resident) += self->held;
}

void uc_setup(unsigned n) {
  uc_require(pages && batch && frames && unmapping < 100,
             "pages, batch and frames must be 1 or more, unmapping below 100");
  mtx_setup(n);
  lists = queues == PERCPU ? n : queues == NUMA ? uc_nodes() : 1;
  domains = uc_alloc(lists * sizeof *domains, 0);
  for (unsigned i = 0; i < lists; i++) list_make(&domains[i].free), list_make(&domains[i].active);
  waiting = uc_alloc(n * sizeof *waiting, 0);
  processes = uc_alloc(n * sizeof *processes, 0);
  for (unsigned i = 0; i < n; i++) process_make(i, n);
  tables = uc_alloc(n * sizeof *tables, 0);
  all_tasks = uc_alloc(n * sizeof *all_tasks, 0);
  for (unsigned id = 0; id < n; id++) task_make(id), task_begin(id, n);
  counts = uc_alloc(counters * sizeof *counts + 1, 0);
  for (uint64_t i = 0; i < counters; i++) counts[i] = percpu_counter_make(n, UC_BLOCK, 0);
  uc_table_make(&taken, 1, 2);
}

// ---- Linux's map --------------------------------------------------------------------------------

// Set while a task holds the map exclusively, or waits for its shared holders to leave.
#define MAP_WANTED (1ull << 32)

static uint64_t map_await(struct process* process) {
  uint64_t holders;
  while ((holders = atomic_load_explicit(&process->map.holders, memory_order_relaxed)) & MAP_WANTED)
    uc_pause();
  return holders;
}

static void map_share(struct process* process) {
  uint64_t holders = map_await(process);
  while (!atomic_compare_exchange_weak_explicit(&process->map.holders, &holders, holders + 1,
                                                memory_order_acquire, memory_order_relaxed))
    if (holders & MAP_WANTED) holders = map_await(process);
}

static void map_leave(struct process* process) {
  atomic_fetch_sub_explicit(&process->map.holders, 1, memory_order_release);
}

static void map_lock(struct process* process) {
  while (atomic_fetch_or_explicit(&process->map.holders, MAP_WANTED, memory_order_acquire) &
         MAP_WANTED)
    map_await(process);
  while (atomic_load_explicit(&process->map.holders, memory_order_acquire) != MAP_WANTED)
    uc_pause();
}

static void map_unlock(struct process* process) {
  atomic_fetch_and_explicit(&process->map.holders, ~MAP_WANTED, memory_order_release);
}

// ---- Free pages ---------------------------------------------------------------------------------

static void free_count(struct domain* domain, int amount, unsigned id) {
  struct link* reservation = &all_tasks[id].reservation;
  list_lock(&domain->free, id);
  uint64_t before = atomic_load_explicit(&domain->available, memory_order_relaxed);
  atomic_store_explicit(&domain->available, before + (uint64_t)amount, memory_order_relaxed);
  link_remove(&domain->free, reservation);
  link_insert(&domain->free, reservation);
  list_unlock(&domain->free);
}

static void free_reserve(struct domain* domain) {
  uint64_t before = atomic_load_explicit(&domain->available, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&domain->available, &before, before - 1,
                                                memory_order_relaxed, memory_order_relaxed))
    continue;
}

static void bulk_move(struct list* to, struct list* from) {
  for (unsigned i = 0; i < PCP_BATCH; i++) link_insert(to, &list_pop(from)->link);
}

static struct page* page_allocate(unsigned id) {
  struct domain* domain = domain_of(id);
  struct list* spare = &all_tasks[id].spare;
  if (pool == RESERVED) free_count(domain, -1, id);
  if (pool == COUNTED) free_reserve(domain);
  if (pool != LIST && spare->length) return list_pop(spare);
  list_lock(&domain->free, id);
  if (pool == BULK) bulk_move(spare, &domain->free);
  struct page* page = list_pop(pool == BULK ? spare : &domain->free);
  list_unlock(&domain->free);
  return page;
}

static void page_free(struct page* page, unsigned id) {
  struct domain* domain = domain_of(id);
  struct list* spare = &all_tasks[id].spare;
  if (pool != LIST) link_insert(spare, &page->link);
  if (pool == RESERVED) free_count(domain, 1, id);
  if (pool == COUNTED) atomic_fetch_add_explicit(&domain->available, 1, memory_order_relaxed);
  if (in_reservations() || (pool == BULK && spare->length < PCP_BATCH)) return;
  list_lock(&domain->free, id);
  if (pool == BULK)
    bulk_move(&domain->free, spare);
  else
    link_insert(&domain->free, &page->link);
  list_unlock(&domain->free);
}

// ---- The active queue ---------------------------------------------------------------------------

// Puts the pages that the task holds and has not yet entered into the active queue.
static void pages_activate(unsigned id) {
  struct task* self = &all_tasks[id];
  struct list* active = &domain_of(id)->active;
  list_lock(active, id);
  while (self->entered < self->held) link_insert(active, &self->pages[self->entered++]->link);
  list_unlock(active);
}

static void pages_deactivate(unsigned id, uint64_t count) {
  struct task* self = &all_tasks[id];
  struct list* active = &domain_of(id)->active;
  list_lock(active, id);
  while (count--) link_remove(active, &self->pages[--self->entered]->link);
  list_unlock(active);
}

static void page_hold(struct page* page, unsigned id) {
  struct task* self = &all_tasks[id];
  self->pages[self->held++] = page;
  if (self->held - self->entered == batch) pages_activate(id);
}

// ---- A fault ------------------------------------------------------------------------------------

static void own(struct page* page, unsigned id) {
  uint64_t before = atomic_exchange_explicit(&page->owner, id + 1, memory_order_relaxed);
  uc_check(before == 0, "a page was given to two tasks");
  struct task* self = &all_tasks[id];
  *(page->node == uc_node_of(id) ? &self->near : &self->far) += 1;
}

static void disown(struct page* page, unsigned id) {
  uint64_t before = atomic_exchange_explicit(&page->owner, 0, memory_order_relaxed);
  uc_check(before == id + 1, "a page changed its owner while in use");
}

// Stores one word for each line, because moving the line costs, not the number of stores.
static void fill(struct task* self) {
  if (!zero) return;
  uint64_t* frame = self->memory + (self->near + self->far) % frames * PAGE_BYTES / sizeof *frame;
  for (uint64_t at = 0; at < PAGE_BYTES / sizeof *frame; at += LINE_WORDS) frame[at] = 0;
}

static void count_fault(unsigned id) {
  for (uint64_t i = 0; i < counters; i++)
    if (statistics == IN_ONE_LINE)
      atomic_fetch_add_explicit(&counts[i]->total, 1, memory_order_relaxed);
    else
      percpu_counter_add(counts[i], id, 1, 0);
}

static struct page* page_make(unsigned id) {
  struct page* page = page_allocate(id);
  own(page, id);
  fill(&all_tasks[id]);
  return page;
}

static void object_upgrade(struct rwlock* object) {
  if (rw_try_upgrade(object)) return;
  rw_runlock(object);
  rw_wlock(object);
}

static void fault_in_object(struct process* process, unsigned id) {
  struct rwlock* object = &process->object;
  sx_slock(&process->map.sx);
  rw_rlock(object);
  object_upgrade(object);
  struct page* page = page_make(id);
  process->resident++;
  rw_wunlock(object);
  rw_wlock(object);
  page_hold(page, id);
  rw_wunlock(object);
  rw_wlock(object);
  rw_wunlock(object);
  sx_sunlock(&process->map.sx);
}

static void fault_in_table(struct process* process, unsigned id) {
  map_share(process);
  struct page* page = page_make(id);
  spin_lock(&tables[id].lock);
  tables[id].resident++;
  page_hold(page, id);
  spin_unlock(&tables[id].lock);
  map_leave(process);
}

// ---- Unmapping ----------------------------------------------------------------------------------

static void pages_release(unsigned id) {
  struct task* self = &all_tasks[id];
  uint64_t leave = guard == TABLES ? SWAP_CLUSTER_MAX : batch;
  if (self->entered < self->held) pages_activate(id);
  while (self->held) {
    pages_deactivate(id, self->held < leave ? self->held : leave);
    while (self->held > self->entered) {
      struct page* page = self->pages[--self->held];
      disown(page, id);
      page_free(page, id);
    }
  }
}

static void unmap_object(struct process* process, unsigned id) {
  sx_xlock(&process->map.sx);
  rw_wlock(&process->object);
  process->resident -= all_tasks[id].held;
  pages_release(id);
  rw_wunlock(&process->object);
  sx_xunlock(&process->map.sx);
}

static void unmap_table(struct process* process, unsigned id) {
  map_lock(process);
  uc_work((int64_t)(all_tasks[id].held * work * unmapping / 100));
  spin_lock(&tables[id].lock);
  tables[id].resident -= all_tasks[id].held;
  spin_unlock(&tables[id].lock);
  pages_release(id);
  map_unlock(process);
}

static void call(unsigned id) {
  struct process* process = &processes[process_of(id)];
  struct task* self = &all_tasks[id];
  uc_work((int64_t)(work - work * unmapping / 100));
  (guard == OBJECT ? fault_in_object : fault_in_table)(process, id);
  count_fault(id);
  if (self->held < pages) return;
  (guard == OBJECT ? unmap_object : unmap_table)(process, id);
}

void uc_finish(unsigned n) {
  uint64_t faults = 0, resident = 0, held = 0, entered = 0, spare = 0;
  for (unsigned i = 0; i < n; i++) {
    struct task* task = &all_tasks[i];
    faults += task->near + task->far;
    *uc_cell(&taken, 0, 0) += task->near;
    *uc_cell(&taken, 0, 1) += task->far;
    held += task->held;
    entered += task->entered;
    spare += task->spare.length;
    resident += processes[i].resident + tables[i].resident;
  }
  uc_check(resident == held, "pages of an object were lost");
  uint64_t available = 0, free = 0, active = 0;
  for (unsigned i = 0; i < lists; i++) {
    available += domains[i].available;
    free += domains[i].free.length;
    active += domains[i].active.length;
  }
  uc_check(active == entered, "pages in a queue were lost");
  if (in_reservations())
    uc_check(available + held == n * pages, "free pages were counted wrongly");
  else
    uc_check(free + spare + held == n * (pages + (pool == BULK ? PCP_BATCH : 0)),
             "free pages were lost");
  for (uint64_t i = 0; i < counters; i++)
    uc_check((uint64_t)percpu_counter_sum(counts[i]) == faults, "faults were not counted");
}
