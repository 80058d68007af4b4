// A traversal of the same elements as a packed array, on few lines, or as a linked list, on many.
//
// The simplest design for locality (Macy 2018) is a packed array: the next element is in the same
// line, or in the one that a prefetcher fetches. Four packed elements of 16 bytes share a line. An
// element of a list is wherever the allocator put it, here in its own block and in random order. A
// traversal of the array misses once for each line, of the list once for each element, and each
// miss must end before the next address is known. Where the core prefetches neighbours (rule C11)
// the array gains once more; a prefetcher of strides, which is not modelled, would hide the rest.
//
// All harts traverse the same elements. Once every `update` traversals hart 0 writes the first
// element, which takes its line from all other harts; in an array, with three more elements.
//
// Check: every traversal visits every element, so that their values add up.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Traversal of a packed array, or of a linked list of the same");
enum shape { ARRAY, LIST };
UC_PARAM(choice, shape, ARRAY, "array|list", "how the elements lie in memory");
UC_PARAM(u64, elements, 64, "elements", "how many there are");
UC_PARAM(u64, update, 0, "traversals", "hart 0 writes an element after so many; 0: never");
UC_PARAM(u64, elements_node, 0, "node", "memory node of the elements");

struct element {
  _Atomic(struct element*) next;  // unused in an array, but keeps the elements' size equal
  _Atomic uint64_t value;
};

static struct element* first;

// Returns the address of element k: packed, or in a block of its own, in an unpredictable order.
// The step is odd, so it visits all slots, whose number is a power of two.
static struct element* place(char* base, uint64_t k, uint64_t slots) {
  uint64_t slot = shape == ARRAY ? k : (k * 0x9E3779B1u + 7) % slots;
  return (struct element*)(base + slot * (shape == ARRAY ? sizeof(struct element) : UC_BLOCK));
}

void uc_setup(unsigned n) {
  (void)n;
  uc_require(elements >= 2, "a traversal needs at least two elements");
  uint64_t slots = 2;
  while (slots < elements) slots *= 2;
  char* base = uc_alloc(slots * UC_BLOCK, (unsigned)elements_node);
  struct element* last = first = place(base, 0, slots);
  for (uint64_t k = 0; k < elements; k++) {
    struct element* element = place(base, k, slots);
    element->value = k;
    if (k) last->next = element;
    last = element;
  }
}

static struct element* after(struct element* element) {
  return shape == ARRAY ? element + 1 : atomic_load_explicit(&element->next, memory_order_relaxed);
}

static uint64_t traverse(void) {
  struct element* element = first;
  uint64_t sum = 0;
  for (uint64_t k = UC_SABOTAGE; k < elements; k++, element = after(element))
    sum += atomic_load_explicit(&element->value, memory_order_relaxed);
  return sum;
}

// Writes the same value again: this takes the line from its readers but keeps the sum.
static void rewrite(struct element* element) {
  uint64_t value = atomic_load_explicit(&element->value, memory_order_relaxed);
  atomic_store_explicit(&element->value, value, memory_order_relaxed);
}

static void traverse_and_check(void) {
  uc_check(traverse() == elements * (elements - 1) / 2, "the elements do not add up");
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t done = 0;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    traverse_and_check();
    uc_op();
    if (id == 0 && update && ++done % update == 0) rewrite(first);
  }
  loop_end();
}

void uc_finish(unsigned n) {
  (void)n;
  traverse_and_check();
}
