// Epoch-based reclamation: readers announce themselves, an updater frees what nobody can still see.
//
// Fraser, "Practical lock-freedom" (2004); the idea is Kung and Lehman's (1980), and RCU (McKenney
// and Slingwine 1998) is its sibling. There is a global epoch. A reader copies it to a line of its
// own when it enters and withdraws when it leaves: it writes nothing shared, so readers scale. The
// updater may advance the epoch when every active reader has announced the current one; what was
// retired two epochs ago can then be freed. The cost moved to the updater, who reads one line per
// hart to advance, each of them owned by its reader: the grace period grows with the machine.
//
// Hart 0 updates; the others read. A ring of objects: the updater publishes the next one, retires
// the previous one, and frees what is old enough; freeing marks the object, and it is used again.
//
// Check: a reader's object is live when it gets it, and still live, in the same life, when it
// leaves.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Epoch-based reclamation: readers on their own lines, an updater that frees");
UC_PARAM(duration, hold, 0, "ns", "time a reader uses its object");
UC_PARAM(duration, think, 0, "ns", "time between two reads");
UC_PARAM(u64, updates, 50, "updates", "objects the updater publishes");
UC_PARAM(duration, period, 0, "ns", "time between two updates");
UC_TABLE(grace, "ns", "time from retirement to freeing, one column per update");

#define RING 16  // objects; at most RING - 1 wait to be freed

#define FREED 0

static struct object {
  UC_ALIGNED _Atomic uint64_t life;  // FREED, or the number of the update that published it
}* objects;

// A hart's announcement: the epoch it entered in, times two plus one; 0 outside.
static struct reader {
  UC_ALIGNED _Atomic uint64_t announced;
}* readers;

static _Atomic uint64_t* epoch;
static _Atomic(struct object*)* current;

// The updater's own book of retired objects. Update number u publishes objects[u % RING] and so
// retires the one of u - 1: [freed, published) are retired and not yet free. The first is number 1.
static struct book {
  uint64_t published, freed;  // numbers of updates
  struct {
    uint64_t epoch, time;
  } retired[RING];
}* book;

static void publish(uint64_t number) {
  struct object* object = &objects[number % RING];
  atomic_store_explicit(&object->life, number, memory_order_relaxed);
  atomic_store(current, object);
}

void uc_setup(unsigned n) {
  objects = uc_alloc(RING * sizeof *objects, 0);
  readers = uc_alloc(n * sizeof *readers, 0);
  epoch = uc_alloc(sizeof *epoch, 0);
  current = uc_alloc(sizeof *current, 0);
  book = uc_alloc(sizeof *book, 0);
  uc_table_make(&grace, 1, updates);
  book->published = book->freed = 1;
  publish(1);
}

// ---- Readers ------------------------------------------------------------------------------------

static void enter(struct reader* self) {
  if (UC_SABOTAGE) return;  // unannounced: objects are freed under the reader's hands
  uint64_t now = atomic_load_explicit(epoch, memory_order_relaxed);
  atomic_store_explicit(&self->announced, 2 * now + 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);  // announced before anything is looked at
}

static void leave(struct reader* self) {
  atomic_store_explicit(&self->announced, 0, memory_order_release);
}

static uint64_t life(struct object* object) {
  return atomic_load_explicit(&object->life, memory_order_relaxed);
}

static void read_once(unsigned id) {
  uc_start();
  enter(&readers[id]);
  struct object* object = atomic_load_explicit(current, memory_order_acquire);
  uint64_t found = life(object);
  uc_check(found != FREED, "a reader was given a freed object");
  uc_delay(hold);
  uc_check(life(object) == found, "an object was freed while a reader used it");
  leave(&readers[id]);
  uc_op();
}

static void read_often(unsigned id) {
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    read_once(id);
    uc_delay(think);
  }
  loop_end();
}

// ---- The updater --------------------------------------------------------------------------------

static bool lags(unsigned hart, uint64_t now) {
  uint64_t announced = atomic_load_explicit(&readers[hart].announced, memory_order_acquire);
  return announced && announced != 2 * now + 1;
}

// Advances the epoch if no reader lags; with `wait`, when none does any more.
static bool advance(unsigned n, bool wait) {
  uint64_t now = atomic_load_explicit(epoch, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);  // what was retired is out of sight before we look
  for (unsigned hart = 1; hart < n; hart++) {
    while (lags(hart, now)) {
      if (!wait) return false;
      uc_pause();
    }
  }
  atomic_store_explicit(epoch, now + 1, memory_order_release);
  return true;
}

static void free_old_enough(void) {
  uint64_t now = atomic_load_explicit(epoch, memory_order_relaxed);
  for (; book->freed < book->published; book->freed++) {
    uint64_t slot = book->freed % RING;
    if (book->retired[slot].epoch + 2 > now) return;
    atomic_store_explicit(&objects[slot].life, FREED, memory_order_relaxed);
    *uc_cell(&grace, 0, book->freed - 1) = uc_now() - book->retired[slot].time;
  }
}

static void update(unsigned n) {
  while (book->published + 1 - book->freed >= RING) {  // the ring is full: now we must wait
    advance(n, true);
    free_old_enough();
  }
  uint64_t retired = book->published % RING;
  publish(book->published + 1);
  book->retired[retired].epoch = atomic_load_explicit(epoch, memory_order_relaxed);
  book->retired[retired].time = uc_now();
  book->published++;
  if (advance(n, false)) free_old_enough();
}

static void update_often(unsigned n) {
  uc_barrier();
  uc_roi(true);
  for (uint64_t i = 0; i < updates; i++) {
    uc_start();
    update(n);
    uc_op();
    uc_delay(period);
  }
  uc_roi(false);
  while (book->freed < book->published) {
    advance(n, true);
    free_old_enough();
  }
}

void uc_main(unsigned id, unsigned n) {
  if (id == 0)
    update_often(n);
  else
    read_often(id);
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(book->freed == updates + 1, "retired objects were never freed");
}
