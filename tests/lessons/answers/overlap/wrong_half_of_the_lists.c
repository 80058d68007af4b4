// Only half of the lists are walked, eight side by side.
#include "uncore.h"

UC_WORKLOAD("Linked lists walked one after the other, or several side by side: overlapping misses");
UC_PARAM(u64, lists, 16, "lists", "walked over in a round");
UC_PARAM(u64, length, 32, "elements", "of a list, each on a line of its own");
UC_PARAM(u64, at_once, 1, "lists", "walked side by side");
UC_PARAM(u64, rounds, 20, "rounds", "of writing all elements and walking over them");
UC_PARAM(u64, lists_node, 0, "node", "memory node of the elements");

#define WIDEST 64

struct element {
  UC_ALIGNED _Atomic(struct element*) next;
};

static struct element* elements;  // ordered by hart, then by position in the list, then by list

static uint64_t elements_of_a_hart(void) { return lists * length; }

void uc_setup(unsigned n) {
  uc_require(lists && length && rounds, "lists, length and rounds must be 1 or more");
  uc_require(at_once && at_once <= WIDEST && lists % at_once == 0,
             "at_once must be 1 to 64, and divide lists");
  elements = uc_alloc(n * elements_of_a_hart() * sizeof *elements, (unsigned)lists_node);
}

// Links the lists. Their last elements point to the hart's first element.
static void write_lists(struct element* own) {
  for (uint64_t k = 0; k < elements_of_a_hart(); k++) {
    struct element* next = k + lists < elements_of_a_hart() ? &own[k + lists] : own;
    atomic_store_explicit(&own[k].next, next, memory_order_relaxed);
  }
}

#define WIDTH 8

// Walks over the lists from `first` on, side by side. Returns the sum of the elements' indices.
static uint64_t walk(struct element* from, uint64_t first) {
  struct element* at[WIDTH];
  uint64_t sum = 0;
  for (uint64_t j = 0; j < WIDTH; j++) at[j] = &from[first + j];
  for (uint64_t left = length - UC_SABOTAGE; left; left--) {
    for (uint64_t j = 0; j < WIDTH; j++) {
      sum += (uint64_t)(at[j] - from);
      at[j] = atomic_load_explicit(&at[j]->next, memory_order_relaxed);
    }
  }
  return sum;
}

static void walk_over(struct element* from) {
  uint64_t sum = 0, count = elements_of_a_hart();
  uc_start();
  for (uint64_t first = 0; first < lists / 2; first += WIDTH) sum += walk(from, first);
  uc_op();
  uc_check(sum == count * (count - 1) / 2, "an element was left out");
}

void uc_main(unsigned id, unsigned n) {
  struct element* own = elements + id * elements_of_a_hart();
  struct element* others = elements + (id + 1) % n * elements_of_a_hart();
  uc_roi(true);
  for (uint64_t round = 0; round < rounds; round++) {
    write_lists(own);
    uc_barrier();
    walk_over(others);
    uc_barrier();
  }
  uc_roi(false);
}
