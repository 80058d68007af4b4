// A full buffer cache: its pages cycle through all page queues, or are renamed in place.
//
// Dillon (2017): when a buffer is used for another block, the mappings of its pages are removed,
// which every CPU must drop from its TLB, and others are made. The pages cycle through the VM's
// queues. Above a gigabyte a second of I/O DragonFly keeps pages and mappings, and only renames the
// pages: each leaves the object (file) that it belonged to and enters another one.
//
//   recycle=remap      invalidate on all harts and wait for them (rendezvous.h; DragonFly's
//                      pmap_qremove), put the pages on the inactive queue, take others from the
//                      free queue, map them
//   recycle=repurpose  rename each page; the buffer keeps it
//
// With remap every buffer costs an interrupt for each hart, and only one buffer is remapped at a
// time, so the total throughput falls as harts are added; all harts also write two queues. With
// repurpose harts share only what they read of each other's buffers, and throughput rises with the
// harts. This is the drop in IPI rates and in stalls of all CPUs that Dillon reports, without
// figures.
//
// Each task has `buffers` buffers, which it reuses in turn, and reads some of its neighbour's
// through cached translations, as a TLB would. An operation is the reuse of one buffer.
//
// Check: a page read through a translation is in a buffer, and the queues lose no page.
#include "loop.h"
#include "rendezvous.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("A full buffer cache: buffers are mapped anew, or their pages are renamed");
enum recycle { REMAP, REPURPOSE };
UC_PARAM(choice, recycle, REMAP, "remap|repurpose", "what becomes of a used buffer's pages");
UC_PARAM(u64, buffers, 4, "buffers", "of each task");
UC_PARAM(u64, pages, 4, "pages", "of a buffer");
UC_PARAM(u64, look_every, 4, "buffers", "a task reads one of its neighbour's after so many");
UC_PARAM(duration, work, 1000, "ns", "private work for a buffer: the read itself");
UC_TABLE(interrupts, "interrupts", "taken to forget translations, one column per hart");

enum state { FREE, IN_BUFFER };

struct page {
  UC_ALIGNED struct page* next;
  _Atomic uint64_t state;
  uint64_t object, offset;  // the page's name: its object, and its index there
};

struct buffer {
  UC_ALIGNED _Atomic(struct page*) pages[8];
};
#define MOST_PAGES 8

static struct task {
  UC_ALIGNED struct buffer* buffers;
  uint64_t turn;          // number of buffers reused so far
  uint64_t object_pages;  // number of pages that objects of this task have
  struct page** seen;     // its TLB, for the neighbour's pages; null: no translation
  uint64_t interrupts;
}* all_tasks;
static unsigned task_count;

// The VM's queues. A task that finds no free page frees one as the page daemon would.
static struct queue {
  UC_ALIGNED struct spinlock lock;
  struct page *first, *last;
  uint64_t length;
} *inactive, *free_pages;

// ---- Queues -------------------------------------------------------------------------------------

static void queue_put(struct queue* queue, struct page* page) {
  page->next = NULL;
  spin_lock(&queue->lock);
  *(queue->first ? &queue->last->next : &queue->first) = page;
  queue->last = page;
  queue->length++;
  spin_unlock(&queue->lock);
}

static struct page* queue_take(struct queue* queue) {
  spin_lock(&queue->lock);
  struct page* page = queue->first;
  if (page) {
    queue->first = page->next;
    queue->length--;
  }
  spin_unlock(&queue->lock);
  return page;
}

static struct page* page_allocate(void) {
  for (struct page* page;;) {
    if ((page = queue_take(free_pages))) return page;
    if ((page = queue_take(inactive))) queue_put(free_pages, page);
  }
}

// ---- Translations -------------------------------------------------------------------------------

static bool is_here(unsigned hart, void* buffer) {
  (void)buffer;
  return hart < task_count;
}

// Runs on each hart: drops the translations of a buffer.
static void forget(void* buffer) {
  unsigned id = uc_id();
  struct task* neighbour = &all_tasks[(id + 1) % task_count];
  all_tasks[id].interrupts++;
  uint64_t slot = (uint64_t)((struct buffer*)buffer - neighbour->buffers);
  if (UC_SABOTAGE || (struct buffer*)buffer < neighbour->buffers || slot >= buffers) return;
  for (uint64_t i = 0; i < pages; i++) all_tasks[id].seen[slot * pages + i] = NULL;
}

// Interrupts are off, because no interrupt divides a hardware access.
static void read_page(struct task* self, struct buffer* buffer, uint64_t slot, uint64_t i) {
  bool on = uc_interrupts_off();
  struct page** seen = &self->seen[slot * pages + i];
  if (!*seen) *seen = atomic_load_explicit(&buffer->pages[i], memory_order_acquire);
  struct page* page = *seen;
  uint64_t state = page ? atomic_load_explicit(&page->state, memory_order_relaxed) : IN_BUFFER;
  uc_interrupts_restore(on);
  uc_check(state == IN_BUFFER, "a page was read through a translation after it was freed");
}

static void look_at_neighbour(unsigned id) {
  struct task *self = &all_tasks[id], *neighbour = &all_tasks[(id + 1) % task_count];
  uint64_t slot = self->turn / look_every % buffers;
  for (uint64_t i = 0; i < pages; i++) read_page(self, &neighbour->buffers[slot], slot, i);
}

// ---- A buffer is used again ---------------------------------------------------------------------

static void page_name(struct page* page, unsigned id, uint64_t i) {
  page->object = id * UINT64_C(1000000) + all_tasks[id].turn;
  page->offset = i;
  all_tasks[id].object_pages++;
}

static void page_leave_object(struct page* page, unsigned id) {
  all_tasks[id].object_pages--;
  page->object = 0;
}

// Removes the page table entries, then all harts' translations; only then reuses the old pages.
static void remap(struct buffer* buffer, unsigned id) {
  struct page* old[MOST_PAGES];
  for (uint64_t i = 0; i < pages; i++)
    old[i] = atomic_exchange_explicit(&buffer->pages[i], NULL, memory_order_acq_rel);
  rendezvous(is_here, forget, buffer);
  for (uint64_t i = 0; i < pages; i++) {
    page_leave_object(old[i], id);
    atomic_store_explicit(&old[i]->state, FREE, memory_order_relaxed);
    queue_put(inactive, old[i]);
  }
  for (uint64_t i = 0; i < pages; i++) {
    struct page* page = page_allocate();
    uint64_t before = atomic_exchange_explicit(&page->state, IN_BUFFER, memory_order_relaxed);
    uc_check(before == FREE, "a page is in two buffers");
    page_name(page, id, i);
    atomic_store_explicit(&buffer->pages[i], page, memory_order_release);
  }
}

static void repurpose(struct buffer* buffer, unsigned id) {
  for (uint64_t i = 0; i < pages; i++) {
    struct page* page = atomic_load_explicit(&buffer->pages[i], memory_order_relaxed);
    page_leave_object(page, id);
    page_name(page, id, i);
  }
}

static void use_again(unsigned id) {
  struct task* self = &all_tasks[id];
  struct buffer* buffer = &self->buffers[self->turn % buffers];
  (recycle == REPURPOSE ? repurpose : remap)(buffer, id);
  self->turn++;
  uc_delay(work);
}

// ---- Setup --------------------------------------------------------------------------------------

static void fill_buffer(struct buffer* buffer, unsigned id) {
  for (uint64_t i = 0; i < pages; i++) {
    struct page* page = uc_alloc(sizeof *page, uc_node_of(id));
    page->state = IN_BUFFER;
    page_name(page, id, i);
    buffer->pages[i] = page;
    queue_put(free_pages, uc_alloc(sizeof *page, uc_node_of(id)));
  }
}

void uc_setup(unsigned n) {
  uc_require(buffers && pages && pages <= MOST_PAGES && look_every,
             "buffers and look_every must be 1 or more, pages 1 to 8");
  mtx_setup(n);
  rendezvous_setup(n);
  task_count = n;
  inactive = uc_alloc(sizeof *inactive, 0);
  free_pages = uc_alloc(sizeof *free_pages, 0);
  all_tasks = uc_alloc(n * sizeof *all_tasks, 0);
  for (unsigned id = 0; id < n; id++) {
    all_tasks[id].buffers = uc_alloc(buffers * sizeof(struct buffer), uc_node_of(id));
    all_tasks[id].seen = uc_alloc(buffers * pages * sizeof(struct page*), uc_node_of(id));
    for (uint64_t k = 0; k < buffers; k++) fill_buffer(&all_tasks[id].buffers[k], id);
  }
  uc_table_make(&interrupts, 1, n);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  rendezvous_join();
  for (struct loop loop = loop_begin(); loop_more(&loop);) {
    uc_start();
    use_again(id);
    uc_op();
    if (all_tasks[id].turn % look_every == 0) look_at_neighbour(id);
  }
  loop_end();
  uc_barrier();  // a hart that is done must still answer IPIs
  *uc_cell(&interrupts, 0, id) = all_tasks[id].interrupts;
}

void uc_finish(unsigned n) {
  uc_check(inactive->length + free_pages->length == n * buffers * pages, "pages were lost");
  for (unsigned id = 0; id < n; id++)
    uc_check(all_tasks[id].object_pages == buffers * pages, "an object lost pages");
}
