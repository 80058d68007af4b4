// uc_alloc: one bump allocator for each memory node. Memory is never freed, so every block is new
// and zero. The image and the stacks are at the start of node 0.
#include "../runtime.h"

extern char uc_stacks[];  // link.ld

static struct {
  UC_ALIGNED _Atomic uint64_t next;
} nodes[UC_MAX_NODES];

static uint64_t node_end(unsigned node) {
  return uc_boot.node_size ? UC_RAM_BASE + (node + 1) * uc_boot.node_size : UINT64_MAX;
}

unsigned uc_nodes(void) { return uc_boot.node_size ? (unsigned)uc_boot.nodes : 1; }

void uc_memory_start(unsigned harts) {
  if (uc_nodes() > UC_MAX_NODES) uc_fatal("more nodes than UC_MAX_NODES: ", uc_nodes());
  for (unsigned node = 0; node < uc_nodes(); node++)
    nodes[node].next = UC_RAM_BASE + node * uc_boot.node_size;
  nodes[0].next = (uint64_t)uc_stacks + (uint64_t)harts * UC_STACK_STRIDE;
  if (nodes[0].next > node_end(0))
    uc_fatal("node 0 is too small for the stacks of n harts, n = ", harts);
}

void* uc_alloc(size_t size, unsigned node) {
  if (node >= uc_nodes()) uc_fatal("uc_alloc: there is no memory node ", node);
  size = (size + UC_BLOCK - 1) & ~(size_t)(UC_BLOCK - 1);
  uint64_t block = atomic_fetch_add_explicit(&nodes[node].next, size, memory_order_relaxed);
  if (block + size > node_end(node)) uc_fatal("uc_alloc: no memory left on node ", node);
  return (void*)block;
}
