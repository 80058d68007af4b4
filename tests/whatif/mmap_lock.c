// mm_struct of Linux 5.x: the semaphore of an address space is on the line that its owner uses.
//
// Threads of one process map and unmap (will-it-scale's mmap2). The owner of the semaphore counts
// the maps and the pages. A waiting thread adds itself to the semaphore's word, and so takes the
// line of the counts away from the owner. For that reason a field inserted before the semaphore
// once cost 7.2 %; 374767adea42 gave it its own line, and -DAPART makes that change by hand.
//
// Check: no change of the counts is lost.
#include "loop.h"
#include "rwsem.h"
#include "uncore.h"

UC_WORKLOAD("An address space's semaphore, beside its counts");
UC_PARAM(u64, work, 3000, "instructions",
         "of a call outside of the semaphore, and half of it inside");

static struct mm {
  UC_ALIGNED _Atomic uint64_t map_count, total_vm, data_vm;
#ifndef APART
  struct rwsem mmap_lock;
#else
  UC_ALIGNED struct rwsem mmap_lock;
#endif
}* mm;

static struct mcs_node* nodes;  // one per hart

void uc_setup(unsigned n) {
  mm = uc_alloc(sizeof *mm, 0);
  nodes = uc_alloc(n * sizeof *nodes, 0);
}

static void add(_Atomic uint64_t* count) {
  uint64_t before = atomic_load_explicit(count, memory_order_relaxed);
  atomic_store_explicit(count, before + 1, memory_order_relaxed);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    uc_work((int64_t)work);
    rwsem_write_lock(&mm->mmap_lock, &nodes[id]);
    add(&mm->map_count);
    uc_work((int64_t)work / 4);
    add(&mm->total_vm);
    uc_work((int64_t)work / 4);
    add(&mm->data_vm);
    rwsem_write_unlock(&mm->mmap_lock);
    uc_op();
  }
  loop_end();
}

void uc_finish(unsigned n) { uc_check(mm->data_vm == uc_total_ops(n), "a count lost changes"); }
