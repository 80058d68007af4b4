// Anderson's array: each ticket number, modulo the number of threads, has a line.
#include "contend.h"

UC_WORKLOAD("Array lock");

struct slot {
  UC_ALIGNED _Atomic uint32_t go;
};

struct lock {
  UC_ALIGNED _Atomic uint32_t next;
  UC_ALIGNED uint32_t served;
};

static struct slot* slots;
static uint32_t many;

static struct lock* lock_setup(unsigned n) {
  many = n;
  slots = uc_alloc(many * sizeof *slots, (unsigned)lock_node);
  slots[0].go = 1;
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) {
  (void)id;
  uint32_t mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed) % many;
  while (!atomic_load_explicit(&slots[mine].go, memory_order_acquire)) uc_pause();
  atomic_store_explicit(&slots[mine].go, 0, memory_order_relaxed);
  lock->served = mine;
}

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  atomic_store_explicit(&slots[(lock->served + 1) % many].go, 1, memory_order_release);
}
