// Compact NUMA-aware lock: Linux's queued lock, handed to waiters of the same node first.
//
// Dice and Kogan, "Compact NUMA-aware locks" (2019), and Kogan's patches for Linux's queued spin
// lock. The head of the queue searches for the next waiter of its own node. Waiters of other nodes
// before it go to a second queue, which is handed on with the lock: `granted` is the second queue's
// last node, whose `next` is the first. When no waiter of the node is left, or after `batch`
// handoffs inside it, the second queue is put in front of the main one. So the lock needs no more
// memory than a queued lock, however many nodes there are, and stays on a node as a cohort lock
// does (lock/cohort.c).
//
// A node is the harts nearest to one memory, or `cluster` harts with neighbouring numbers.
#include "contend.h"
#define QUEUE_POLICY
#include "queued_lock.h"

UC_WORKLOAD("Compact NUMA-aware lock: Linux's queued lock, handed on inside a node first");
UC_PARAM(u64, cluster, 0, "harts",
         "harts with neighbouring numbers in a node; 0: of a memory node");
UC_PARAM(u64, batch, 256, "handoffs", "handoffs inside a node before the lock must move on");

struct lock {
  union queued_lock word;
};

static struct queue_node* nodes;  // one for each hart

enum { GRANTED = 1 };  // no second queue; any other value is the last node of the second queue

static struct {
  UC_ALIGNED uint64_t handoffs;  // inside the node; only the head of the queue uses it
}* stay;

static struct queue_node* last_aside(const struct queue_node* self) {
  uintptr_t granted = atomic_load_explicit(&self->granted, memory_order_relaxed);
  return granted > GRANTED ? (struct queue_node*)granted : NULL;
}

static struct queue_node* following(const struct queue_node* node) {
  return atomic_load_explicit(&node->next, memory_order_acquire);
}

static void link_to(struct queue_node* node, struct queue_node* next) {
  atomic_store_explicit(&node->next, next, memory_order_relaxed);
}

static void grant(struct queue_node* node, struct queue_node* aside) {
  uintptr_t granted = aside ? (uintptr_t)aside : GRANTED;
  atomic_store_explicit(&node->granted, granted, memory_order_release);
}

// Puts the second queue in front of `main_queue`, and grants the lock to its first node.
static void bring_back(struct queue_node* aside, struct queue_node* main_queue) {
  struct queue_node* first = following(aside);
  link_to(aside, main_queue);
  stay->handoffs = 0;
  grant(first, NULL);
}

static bool queue_close(union queued_lock* of, struct queue_node* self, uint32_t word) {
  struct queue_node* aside = last_aside(self);
  if (!aside) return queue_swap_word(of, &word, QUEUED_TAKEN, memory_order_relaxed);
  struct queue_node* first = following(aside);
  link_to(aside, NULL);  // links it before other harts can queue after the node
  uint32_t tail = (uint32_t)(aside - nodes + 1) << QUEUED_TAIL_SHIFT;
  if (queue_swap_word(of, &word, tail | QUEUED_TAKEN, memory_order_release)) {
    stay->handoffs = 0;
    grant(first, NULL);
    return true;
  }
  link_to(aside, first);
  return false;
}

// Returns the last waiter before the first waiter of this memory node; null if there is no such.
static struct queue_node* last_of_others(struct queue_node* self, struct queue_node* next) {
  for (struct queue_node* last = next; (next = following(last)); last = next)
    if (next->node == self->node) return last;
  return NULL;
}

static void queue_pass(struct queue_node* self, struct queue_node* next) {
  struct queue_node* aside = last_aside(self);
  bool stays = stay->handoffs++ < batch;
  if (stays && next->node == self->node) return grant(next, aside);
  struct queue_node* last = stays ? last_of_others(self, next) : NULL;
  if (last) {
    struct queue_node* chosen = following(last);
    link_to(last, aside ? following(aside) : next);
    if (aside) link_to(aside, next);
    grant(chosen, last);
  } else if (aside) {
    bring_back(aside, next);
  } else {
    stay->handoffs = 0;
    grant(next, NULL);
  }
}

static struct lock* lock_setup(unsigned n) {
  nodes = uc_alloc(n * sizeof *nodes, (unsigned)lock_node);
  stay = uc_alloc(sizeof *stay, (unsigned)lock_node);
  for (unsigned id = 0; id < n; id++)
    nodes[id].node = cluster ? id / (unsigned)cluster : uc_node_of(id);
  return uc_alloc(sizeof(struct lock), (unsigned)lock_node);
}

static void lock_acquire(struct lock* lock, unsigned id) { queue_lock(&lock->word, nodes, id); }

static void lock_release(struct lock* lock, unsigned id) {
  (void)id;
  queue_unlock(&lock->word);
}
