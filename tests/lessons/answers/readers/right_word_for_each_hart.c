// A reader announces itself in a word of its own hart; a writer reads the words of all harts.
#include "contend_threads.h"

UC_WORKLOAD("Big-reader lock: a word for each hart");

static struct {
  UC_ALIGNED _Atomic uint32_t held;
}* writer;

static struct {
  UC_ALIGNED _Atomic uint32_t inside;
}* readers;
static unsigned many;

static void lock_setup(unsigned n) {
  writer = uc_alloc(sizeof *writer, (unsigned)lock_node);
  many = n;
  readers = uc_alloc(many * sizeof *readers, (unsigned)lock_node);
}

static void lock_shared(void) {
  _Atomic uint32_t* inside = &readers[uc_id()].inside;
  for (;;) {
    atomic_fetch_add_explicit(inside, 1, memory_order_seq_cst);
    if (!atomic_load_explicit(&writer->held, memory_order_seq_cst)) return;
    atomic_fetch_sub_explicit(inside, 1, memory_order_release);
    while (atomic_load_explicit(&writer->held, memory_order_relaxed)) uc_pause();
  }
}

static void unlock_shared(void) {
  atomic_fetch_sub_explicit(&readers[uc_id()].inside, 1, memory_order_release);
}

static void lock_exclusive(void) {
  while (atomic_exchange_explicit(&writer->held, 1, memory_order_seq_cst))
    while (atomic_load_explicit(&writer->held, memory_order_relaxed)) uc_pause();
  for (unsigned k = 0; k < many; k++)
    while (atomic_load_explicit(&readers[k].inside, memory_order_seq_cst)) uc_pause();
}

static void unlock_exclusive(void) {
  atomic_store_explicit(&writer->held, 0, memory_order_release);
}
