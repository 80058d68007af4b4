// TLB shootdown: a page is freed only when no processor can still translate to it.
//
// Black et al., "Translation lookaside buffer consistency: a software approach" (1989), for Mach.
// Processors keep translations that no coherence protocol invalidates. A processor that changes a
// page table entry interrupts all that may have cached it; each drops it and acknowledges, and only
// then may the old page be used for something else. One shootdown is under way at a time, as in
// FreeBSD 12 (smp_ipi_mtx). It costs an interrupt for each processor, or one message with
// multicast, and an acknowledgement from each: a write to a line of its own, or to one counter that
// all of them share (`acknowledge`).
//
// The first `initiators` harts each remap a page of their own again and again. The other harts use
// these pages through a cached translation, as a TLB would. Interrupts are off while a page is
// used, because no interrupt divides a hardware access. An operation is a shootdown.
//
// Check: a page is in use whenever a hart accesses it.
#include "acknowledge.h"
#include "loop.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("TLB shootdown: interrupt, acknowledge, wait, and only then free the page");
UC_PARAM(u64, initiators, 1, "harts", "that remap pages; the others use them");
UC_PARAM(u64, users, 0, "harts", "that use the pages; 0: all others");
UC_PARAM(choice, acknowledge, ACKNOWLEDGE_WORDS, "counter|words", "one counter, or a word each");
UC_PARAM(duration, think, 100, "ns", "between two accesses, and between two shootdowns");
UC_TABLE(accesses, "accesses", "by each hart, one column each");

enum { FREE, IN_USE };

struct page {
  UC_ALIGNED _Atomic uint64_t state;
};

// One initiator's virtual page, and the two physical pages that it maps there in turn.
static struct mapping {
  UC_ALIGNED _Atomic(struct page*) entry;  // the page table entry
  struct uc_cpuset* others;                // all active harts but the initiator
  struct page pages[2];
}* mappings;

static struct page** tlbs;  // each hart's TLB, by virtual page; null: no translation
static uint64_t tlb_size, active, mapped;

static struct request {
  UC_ALIGNED struct spinlock lock;
  UC_ALIGNED _Atomic uint64_t number;
  uint64_t virtual_page;
  UC_ALIGNED _Atomic uint64_t initiators;  // number of initiators that are not done
}* request;

static struct page** tlb(unsigned hart) { return tlbs + hart * tlb_size; }

void uc_setup(unsigned n) {
  mapped = initiators < 1 ? 1 : initiators < n ? initiators : n;
  active = users && mapped + users < n ? mapped + users : n;
  tlb_size = ((mapped * sizeof *tlbs + UC_BLOCK - 1) & -UC_BLOCK) / sizeof *tlbs;
  mappings = uc_alloc(mapped * sizeof *mappings, 0);
  tlbs = uc_alloc(n * tlb_size * sizeof *tlbs, 0);
  request = uc_alloc(sizeof *request, 0);
  request->initiators = mapped;
  for (uint64_t i = 0; i < mapped; i++) {
    mappings[i].pages[0].state = IN_USE;
    mappings[i].entry = &mappings[i].pages[0];
    mappings[i].others = uc_cpuset_range(0, (unsigned)active);
    uc_cpuset_remove(mappings[i].others, (unsigned)i);
  }
  acknowledge_setup(n, acknowledge);
  uc_table_make(&accesses, 1, n);
}

// ---- All harts: a cached translation, and an interrupt that drops it ---------------------------

static void on_ipi(void) {
  uint64_t number = atomic_load_explicit(&request->number, memory_order_acquire);
  if (!UC_SABOTAGE) tlb(uc_id())[request->virtual_page] = NULL;
  acknowledge_give(number);
}

static void access(struct page** tlb, uint64_t virtual_page) {
  bool interrupts = uc_interrupts_off();
  struct page* page = tlb[virtual_page];
  if (!page) {
    page = atomic_load_explicit(&mappings[virtual_page].entry, memory_order_acquire);
    tlb[virtual_page] = page;
  }
  uint64_t state = atomic_load_explicit(&page->state, memory_order_relaxed);
  uc_interrupts_restore(interrupts);
  uc_check(state == IN_USE, "a hart used a page that had been freed");
}

static void use_pages(unsigned id) {
  uint64_t count = 0;
  while (atomic_load_explicit(&request->initiators, memory_order_acquire)) {
    access(tlb(id), count++ % mapped);
    uc_delay(think);
  }
  *uc_cell(&accesses, 0, id) = count;
}

// ---- Initiators ---------------------------------------------------------------------------------

static void shootdown(unsigned id, uint64_t virtual_page) {
  spin_lock(&request->lock);  // interrupts stay on, because the owner may be waiting for this hart
  uint64_t number = request->number + 1;
  request->virtual_page = virtual_page;
  acknowledge_expect(active - 1);
  atomic_store_explicit(&request->number, number, memory_order_release);
  uc_ipi_many(mappings[id].others->bits, (unsigned)active);
  acknowledge_await(mappings[id].others, number);
  spin_unlock(&request->lock);
}

static void remap(unsigned id) {
  struct mapping* mapping = &mappings[id];
  struct page* before = atomic_load_explicit(&mapping->entry, memory_order_relaxed);
  struct page* after = &mapping->pages[before == &mapping->pages[0]];
  atomic_store_explicit(&after->state, IN_USE, memory_order_relaxed);
  atomic_store_explicit(&mapping->entry, after, memory_order_release);
  shootdown(id, id);
  atomic_store_explicit(&before->state, FREE, memory_order_relaxed);
}

static void remap_often(unsigned id, struct loop loop) {
  while (loop_more(&loop)) {
    uc_start();
    remap(id);
    uc_op();
    uc_delay(think);
  }
  atomic_fetch_sub_explicit(&request->initiators, 1, memory_order_release);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uc_on_ipi(on_ipi);
  struct loop loop = loop_begin();
  if (id < mapped)
    remap_often(id, loop);
  else if (id < active)
    use_pages(id);
  loop_end();
  uc_barrier();  // a hart that is done must still acknowledge shootdowns
}
