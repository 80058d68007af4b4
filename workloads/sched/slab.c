// The slab allocator's free() of an object that belongs to the same processor, or to another.
//
// Bonwick (1994) invented slabs. In DragonFly a zone belongs to one processor, which allocates from
// it and frees to it without a lock or an atomic; a processor that frees another's object sends it
// to its owner in a message (ipiq.h). Dillon (2005) measured 282 ns for free() on the same
// processor, and with two processors 262 on the freeing side and 359 on the owner's, which must
// first fetch the object's line from the processor that used it. The memory is not needed soon, so
// the message can be passive: no interrupt, run in batches at the owner's tick.
//
// The other work of free() is modelled too, as in DragonFly's sources with INVARIANTS: a critical
// section, a check of the zone's mark, the object's bit, found by a division, words that show a
// use after free, and the counts of its type. The owner's part of a remote free() is a whole
// free().
//
// Each hart allocates batches of objects, uses them and passes them to the next hart, which uses
// and frees them. With `ways=one` only every other hart allocates, so no hart both frees objects of
// another and owns freed ones. An operation is an object freed.
//
// Check: each freed object is allocated, and at the end every zone has all its objects.
#include "ipiq.h"
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Slab free(): local, or remote by active or passive message");
enum freeing { FREE_PASSIVE, FREE_ACTIVE, FREE_LOCAL };
UC_PARAM(choice, free, FREE_PASSIVE, "passive|active|local",
         "remote by which message, or one's own");
enum ways { WAYS_ALL, WAYS_ONE };
UC_PARAM(choice, ways, WAYS_ALL, "all|one", "who allocates: all harts, or harts 0, 2, 4 ...");
UC_PARAM(u64, zone, 64, "objects", "in each hart's zone");
UC_PARAM(u64, batch, 8, "objects", "passed on together");
UC_PARAM(duration, use, 50, "ns", "time an object is used, by each of the two");
UC_PARAM(duration, tick, 10000, "ns", "a hart looks at its messages so often");
UC_TABLE(free_time, "ps", "mean per object; row 0: the freeing hart, row 1: the owner's part");

enum { FREED, ALLOCATED };

#define ZONE_MARK 0x736c6162
#define FREED_WORD 0xdeadc0dedeadc0de
#define DATA_WORDS 5  // fills up an object's line
#define MOST_OBJECTS 1024

struct object {
  UC_ALIGNED struct object* next;  // next object in the zone, or in a batch
  unsigned owner;
  uint64_t state;
  volatile uint64_t data[DATA_WORDS];
};

// Data that free() uses besides the object: the head of its zone, and its processor's counts.
struct head {
  UC_ALIGNED volatile uint64_t mark, size;
  char* first;
  volatile uint64_t allocated[MOST_OBJECTS / 64];  // a bit for each object
  UC_ALIGNED volatile uint64_t critical, in_use, memory_in_use;
};

struct side {
  uint64_t objects, time;
};

static struct hart {
  UC_ALIGNED struct object* free;  // the zone's free objects
  uint64_t free_objects, next_tick, produced;
  struct head* head;
  struct side freeing, owning;
  UC_ALIGNED _Atomic(struct object*) batch;  // the batch passed to this hart
  _Atomic bool last;                         // no further batch will follow
}* harts;

void uc_setup(unsigned n) {
  harts = uc_alloc(n * sizeof *harts, 0);
  uc_table_make(&free_time, 2, n);
  ipiq_setup(n);
  if (batch < 1 || batch > zone) uc_check(false, "batch must be 1 or more, and at most zone");
  if (zone > MOST_OBJECTS) uc_check(false, "zone must be 1024 or less");
  for (unsigned owner = 0; owner < n; owner++) {
    struct object* objects = uc_alloc(zone * sizeof *objects, uc_node_of(owner));
    struct head* head = uc_alloc(sizeof *head, uc_node_of(owner));
    *head = (struct head){.mark = ZONE_MARK, .size = sizeof *objects, .first = (char*)objects};
    harts[owner].head = head;
    for (uint64_t i = 0; i < zone; i++) {
      struct object* object = &objects[i];
      object->owner = owner;
      object->next = harts[owner].free;
      harts[owner].free = object;
    }
    harts[owner].free_objects = zone;
  }
}

// ---- The allocator ------------------------------------------------------------------------------

// Begins a critical section. Interrupts are off, because the owner's handler frees to the same
// zone. DragonFly leaves them on, and only counts.
static bool critical_enter(struct head* head) {
  head->critical++;
  return uc_interrupts_off();
}

static void critical_exit(struct head* head, bool interrupts) {
  head->critical--;
  uc_interrupts_restore(interrupts);
}

static void count(struct head* head, uint64_t objects) {
  head->in_use += objects;
  head->memory_in_use += objects * head->size;
}

// Flips the object's allocation bit. Returns true if it was allocated before.
static bool flip_bit(struct head* head, struct object* object) {
  uint64_t number = (uint64_t)((char*)object - head->first) / head->size, bit = 1ul << number % 64;
  head->allocated[number / 64] ^= bit;
  return !(head->allocated[number / 64] & bit);
}

static struct object* zone_take(struct hart* self) {
  bool interrupts = critical_enter(self->head);
  struct object* object = self->free;
  self->free = object->next;
  self->free_objects--;
  flip_bit(self->head, object);
  count(self->head, 1);
  critical_exit(self->head, interrupts);
  uc_check(object->state == FREED, "an object was allocated twice");
  object->state = ALLOCATED;
  return object;
}

static void zone_put(struct hart* owner, struct object* object) {
  struct head* head = owner->head;
  uc_check(head->mark == ZONE_MARK, "a zone was overwritten");
  bool interrupts = critical_enter(head);
  bool allocated = flip_bit(head, object);
  uc_check(allocated && object->state == ALLOCATED, "an object was freed that is not allocated");
  object->state = FREED;
  for (unsigned i = 0; i < DATA_WORDS; i++) object->data[i] = FREED_WORD;
  object->next = owner->free;
  owner->free = object;
  owner->free_objects++;
  count(head, -1ul);
  critical_exit(head, interrupts);
}

// The message's function: the owner's part of a remote free.
static void free_at_home(void* argument, uint64_t unused) {
  (void)unused;
  struct hart* self = &harts[uc_id()];
  uint64_t begin = uc_now();
  zone_put(self, argument);
  self->owning.time += uc_now() - begin;
  self->owning.objects++;
}

static void slab_free(struct hart* self, struct object* object) {
  if (object->owner == uc_id() || UC_SABOTAGE)  // sabotage: keeps another hart's object
    zone_put(self, object);
  else
    ipiq_post(object->owner, free_at_home, object, 0, free == FREE_PASSIVE);
}

// ---- Producers and consumers --------------------------------------------------------------------

static void use_object(struct object* object) {
  object->data[0]++;
  uc_delay(use);
}

static void produce(struct hart* self, struct hart* consumer) {
  struct object* first = NULL;
  for (uint64_t i = 0; i < batch; i++) {
    struct object* object = zone_take(self);
    use_object(object);
    object->next = first;
    first = object;
  }
  atomic_store_explicit(&consumer->batch, first, memory_order_release);
}

static void consume(struct hart* self, struct object* first) {
  for (struct object *object = first, *next; object; object = next) {
    next = object->next;
    use_object(object);
    uc_start();
    uint64_t begin = uc_now();
    slab_free(self, object);
    self->freeing.time += uc_now() - begin;
    self->freeing.objects++;
    uc_op();
  }
}

static bool wants_batch(struct hart* consumer) {
  return !atomic_load_explicit(&consumer->batch, memory_order_acquire);
}

static void consume_if_any(struct hart* self) {
  struct object* first = atomic_load_explicit(&self->batch, memory_order_acquire);
  if (!first) return;
  consume(self, first);
  atomic_store_explicit(&self->batch, NULL, memory_order_release);
}

static void tick_when_due(struct hart* self) {
  if (uc_now() < self->next_tick) return;
  self->next_tick = uc_now() + tick;
  ipiq_poll();
}

// Returns whether a hart allocates. With free=local every hart does.
static bool produces(unsigned id) { return ways == WAYS_ALL || free == FREE_LOCAL || id % 2 == 0; }

static bool home(struct hart* self) { return *(volatile uint64_t*)&self->free_objects == zone; }

// Produces batches while `loop` has more, and consumes received ones, until both have ended.
static void work(struct hart* self, struct hart* consumer, struct loop loop) {
  bool more = produces(uc_id()) && loop_more(&loop), done = false;
  if (!more) atomic_store_explicit(&consumer->last, true, memory_order_release);
  while (!done || !home(self)) {
    if (more && self->free_objects >= batch && wants_batch(consumer)) {
      produce(self, consumer);
      more = loop_more(&loop);
      if (!more) atomic_store_explicit(&consumer->last, true, memory_order_release);
    }
    bool last = atomic_load_explicit(&self->last, memory_order_acquire);
    consume_if_any(self);
    done = last && wants_batch(self) && !more;
    tick_when_due(self);
    if (!more) uc_delay(use);
  }
}

static uint64_t mean_ps(struct side side) {
  return side.objects ? side.time * 1000 / side.objects : 0;
}

void uc_main(unsigned id, unsigned n) {
  struct hart* self = &harts[id];
  ipiq_start();
  struct loop loop = loop_begin();
  loop.left = (loop.left + batch - 1) / (batch ? batch : 1) + (loop.left == 0);
  work(self, &harts[free == FREE_LOCAL ? id : (id + 1) % n], loop);
  loop_end();
  *uc_cell(&free_time, 0, id) = mean_ps(self->freeing);
  *uc_cell(&free_time, 1, id) = mean_ps(self->owning);
}

void uc_finish(unsigned n) {
  for (unsigned id = 0; id < n; id++) {
    uint64_t objects = 0;
    for (struct object* object = harts[id].free; object; object = object->next, objects++)
      uc_check(object->owner == id, "an object is in a zone that it is not of");
    uc_check(objects == zone, "objects are missing from their zone");
  }
}
