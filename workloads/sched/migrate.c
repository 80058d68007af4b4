// A thread is moved to another hart, while its working set is still in the old hart's cache.
//
// Macy (2018): the larger the distance between two CPUs, the more it costs to refill the caches
// when a thread migrates. So the schedulers ULE and Linux prefer the hart on which a thread ran
// last, then its neighbours. A move itself costs two run queues and an interrupt (sched_bind(9)).
// Here two walks over the thread's `lines` lines follow, of which the second hits.
//
// The time of the first walk grows with the distance. On a sibling thread, which has the same
// caches, all accesses hit. Farther away each line is transferred: within the shared cache, the
// die or the socket, or between sockets, less the overlap of independent misses
// (`walk=chained` has none). Lines that are only read (`written=0`) stay in all caches, and come
// from the nearest one.
//
// The thread moves from hart 0 to each other hart and back. An operation is a move to such a hart.
//
// Check: the thread runs on the hart that it was moved to, and finds its data unchanged.
#include "loop.h"
#include "scheduler.h"
#include "uncore.h"

UC_WORKLOAD("A thread is moved and refills its caches: near or far");
UC_PARAM(u64, lines, 128, "lines", "of the thread's working set, 64 bytes each");
enum walk { WALK_PLAIN, WALK_CHAINED };
UC_PARAM(choice, walk, WALK_PLAIN, "plain|chained",
         "whether an address follows from its number or from the line before");
UC_PARAM(bool, written, 1, "", "walks write the lines, or read them only");
UC_PARAM(u64, set_node, 0, "node", "memory node of the working set");
UC_TABLE(refill, "ps", "a line of the first walk on the hart of the column; of the second");

static struct line {
  _Alignas(64) volatile uint64_t next;  // number of the next line
  volatile uint64_t walks;
}* set;

static struct cost {
  uint64_t first_ns, second_ns, moves;
}* costs;
static unsigned harts;
static uint64_t walks;

static uint64_t line_after(uint64_t k) {
  return walk == WALK_CHAINED ? set[k].next : k + 1 < lines ? k + 1 : 0;
}

static void touch(struct line* line) {
  uint64_t seen = line->walks;
  uc_check(seen == (written ? walks : 0), "the thread found other data than it left");
  if (written) line->walks = seen + 1;
}

static uint64_t walk_ns(void) {
  uint64_t begin_ns = uc_now();
  for (uint64_t left = lines, k = 0; left; left--, k = line_after(k)) touch(&set[k]);
  walks++;
  return uc_now() - begin_ns;
}

static void move(unsigned hart) {
  if (hart != uc_id() && !UC_SABOTAGE) uc_thread_migrate(uc_cpuset_one(hart));
  uc_check(uc_id() == hart, "the thread was not moved");
}

static void visit(unsigned hart) {
  move(hart);
  struct cost* cost = &costs[hart];
  cost->first_ns += walk_ns();
  cost->second_ns += walk_ns();
  cost->moves++;
}

static void wander(void* unused) {
  (void)unused;
  unsigned hart = 0;
  walk_ns();
  for (struct loop loop = loop_plan(); loop_more(&loop);) {
    uc_start();
    hart = hart + 1 < harts ? hart + 1 : harts > 1;
    visit(hart);
    uc_op();
    move(0);
    walk_ns();
  }
}

void uc_setup(unsigned n) {
  uc_require(lines, "lines must be 1 or more");
  uc_sched_setup(n);
  harts = n;
  set = uc_alloc(lines * sizeof *set, (unsigned)set_node);
  costs = uc_alloc(n * sizeof *costs, 0);
  for (uint64_t k = 0; k < lines; k++) set[k].next = (k + 1) % lines;
  uc_table_make(&refill, 2, n);
  uc_thread_create(wander, NULL, uc_cpuset_one(0));
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}

void uc_finish(unsigned n) {
  for (unsigned hart = 0; hart < n; hart++) {
    if (!costs[hart].moves) continue;
    uint64_t walked = costs[hart].moves * lines;
    *uc_cell(&refill, 0, hart) = costs[hart].first_ns * 1000 / walked;
    *uc_cell(&refill, 1, hart) = costs[hart].second_ns * 1000 / walked;
  }
}
