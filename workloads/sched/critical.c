// DragonFly's critical section and its trace record, which use no lock, atomic or CLI instruction.
//
// Dillon (2005) measured both on an Athlon: to enter and leave takes 9.5 ns, a record without
// arguments 40 ns if its lines are in the cache. A section raises the priority of the thread by a
// constant and lowers it again (crit_enter and crit_exit in sys/thread2.h). An interrupt that finds
// it raised only counts itself (`noted`), and its work is done when the thread leaves the section.
// A record is an entry of its processor's ring: time, text, file and line, written within a section
// (ktr_begin_write_entry in kern/kern_ktr.c).
//
// The cost does not depend on the number of harts, because they share no data. A section loads,
// changes and stores the thread's own word twice. The first records of a ring miss; later ones hit
// if the ring fits into a cache (`entries`).
//
// Each hart interrupts the next one after each batch. An operation is a section, or a record.
//
// Check: a noted interrupt's work is done, but never within a section; records are complete.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("A critical section without a lock, and a record of a trace within one");
enum measured { MEASURED_SECTION, MEASURED_RECORD };
UC_PARAM(choice, measured, MEASURED_SECTION, "section|record", "what is done again and again");
UC_PARAM(u64, batch, 100, "times", "between two looks at the clock");
UC_PARAM(u64, entries, 64, "entries", "of a hart's ring of records: a power of two");
UC_TABLE(cost, "ps", "a section or a record, mean; one column per hart");

#define PRIORITY_CRITICAL 64

struct thread {
  UC_ALIGNED volatile int priority;
  volatile unsigned noted;  // number of interrupts that found the priority raised
};

// A record. DragonFly's ktr_entry has room for arguments, too.
struct trace_entry {
  UC_ALIGNED uint64_t time_ns;
  const char *what, *file;
  uint64_t line;
};

static struct hart {
  UC_ALIGNED struct thread* volatile current;
  struct trace_entry* ring;
  uint64_t records;
  UC_ALIGNED _Atomic uint64_t interrupts, done;
}* harts;

// ---- The section --------------------------------------------------------------------------------

static void do_noted(struct hart* self) {
  uc_check(self->current->priority < PRIORITY_CRITICAL, "an interrupt's work ran in a section");
  uint64_t done = atomic_load_explicit(&self->done, memory_order_relaxed);
  atomic_store_explicit(&self->done, done + 1, memory_order_relaxed);
}

static __attribute__((noinline)) void leave_noted(struct hart* self, struct thread* thread) {
  bool interrupts = uc_interrupts_off();
  for (; thread->noted; thread->noted--) do_noted(self);
  uc_interrupts_restore(interrupts);
}

static inline void section_enter(struct hart* self) {
  self->current->priority += PRIORITY_CRITICAL;
  atomic_signal_fence(memory_order_seq_cst);
}

static inline void section_exit(struct hart* self) {
  struct thread* thread = self->current;
  atomic_signal_fence(memory_order_seq_cst);
  thread->priority -= PRIORITY_CRITICAL;
  if (thread->noted && thread->priority < PRIORITY_CRITICAL) leave_noted(self, thread);
}

static void on_ipi(void) {
  struct hart* self = &harts[uc_id()];
  uint64_t taken = atomic_load_explicit(&self->interrupts, memory_order_relaxed);
  atomic_store_explicit(&self->interrupts, taken + 1, memory_order_relaxed);
  if (self->current->priority >= PRIORITY_CRITICAL && !UC_SABOTAGE)
    self->current->noted++;
  else
    do_noted(self);
}

// ---- The record ---------------------------------------------------------------------------------

static void record_write(struct hart* self, const char* what, uint64_t line) {
  section_enter(self);
  struct trace_entry* entry = &self->ring[self->records++ % entries];
  entry->time_ns = uc_now();
  entry->what = what;
  entry->file = __FILE__;
  entry->line = line;
  section_exit(self);
}

static void check_ring(struct hart* self) {
  uint64_t first = self->records > entries ? self->records - entries : 0, before = 0;
  for (uint64_t i = first; i < self->records; i++) {
    struct trace_entry* entry = &self->ring[i % entries];
    uc_check(entry->line == i && entry->time_ns >= before, "a record is missing or out of order");
    before = entry->time_ns;
  }
}

// ---- Harts --------------------------------------------------------------------------------------

static void do_batch(struct hart* self) {
  for (uint64_t left = batch; left; left--) {
    if (measured == MEASURED_RECORD) {
      record_write(self, "record", self->records);
    } else {
      section_enter(self);
      section_exit(self);
    }
  }
}

void uc_setup(unsigned n) {
  uc_require(batch && entries && !(entries & (entries - 1)),
             "batch must be 1 or more, entries a power of two");
  harts = uc_alloc(n * sizeof *harts, 0);
  for (unsigned id = 0; id < n; id++) {
    harts[id].current = uc_alloc(sizeof(struct thread), uc_node_of(id));
    harts[id].ring = uc_alloc(entries * sizeof(struct trace_entry), uc_node_of(id));
  }
  uc_table_make(&cost, 1, n);
}

void uc_main(unsigned id, unsigned n) {
  struct hart* self = &harts[id];
  uint64_t spent_ns = 0, batches = 0;
  uc_on_ipi(on_ipi);
  uc_barrier();
  do_batch(self);  // fetches the lines before the measurement
  for (struct loop loop = loop_begin(); loop_more(&loop); batches++) {
    uc_start();
    uint64_t begin_ns = uc_now();
    do_batch(self);
    spent_ns += uc_now() - begin_ns;
    uc_ops(batch);
    if (n > 1) uc_ipi((id + 1) % n);
  }
  loop_end();
  uc_barrier();  // a hart that is done must still take interrupts
  if (batches) *uc_cell(&cost, 0, id) = spent_ns * 1000 / (batches * batch);
}

void uc_finish(unsigned n) {
  for (unsigned id = 0; id < n; id++) {
    struct hart* hart = &harts[id];
    check_ring(hart);
    uc_check(hart->interrupts == hart->done, "what an interrupt noted was not done");
  }
}
