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
// With `life` the thread is a row of short programs instead, as in a bulk build: after so many
// walks one ends, and the next begins on that hart with lines of its own. `memory` says where they
// are allocated: in turn on all memory nodes, or on the node where the program began, as
// DragonFly's allocator does since 2017 (Dillon). Each `stay` walks the scheduler moves the thread
// to a hart drawn at random. Accesses were local and remote 1:1 before, and 5:1 to 10:1 after: the
// rest are programs that were moved off their node. How often that happens no article states. If
// one program in two is moved in the middle of its life, and half of the moves change the socket,
// 7:1 is left.
//
// NUMA "doesn't actually add a whole lot" to other workloads, for the caches "are big and work very
// well": a set that fits into them takes the same time wherever its memory is (`set_node=0`, `1`,
// second walk); one that does not takes longer by the way to the other node.
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
UC_PARAM(u64, life, 0, "walks", "of a program, then another begins; 0: one program for all time");
UC_PARAM(u64, stay, 16, "walks", "with life: until the thread is moved to some hart");
enum memory { MEMORY_HERE, MEMORY_TURNS };
UC_PARAM(choice, memory, MEMORY_HERE, "here|turns",
         "with life: where a program's lines are: on the node where it began, or on all in turn");
UC_TABLE(accesses, "accesses", "of programs to the memory node of their hart, and to others");
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
static struct line** node_set;  // with `life`: lines on each memory node
static uint64_t near, far;      // accesses of programs, by the node of the line

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

static void use_lines(unsigned node, uint64_t count) {
  for (uint64_t k = 0; k < count; k++) node_set[node][k].walks++;
  *(node == uc_node_of(uc_id()) ? &near : &far) += count;
}

static void walk_program(unsigned began) {
  if (memory == MEMORY_HERE) use_lines(began, lines);
  for (unsigned node = 0; memory == MEMORY_TURNS && node < uc_nodes(); node++)
    use_lines(node, lines / uc_nodes());
}

static unsigned drawn_hart(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((*state >> 33) % harts);
}

// Runs programs one after another. A move comes in the middle of a program's life.
static void run_programs(struct loop loop) {
  unsigned began = uc_node_of(uc_id());
  uint64_t state = 1;
  for (uint64_t walk_number = 0; loop_more(&loop); walk_number++) {
    uc_start();
    if (walk_number % life == 0) began = uc_node_of(uc_id());
    if (walk_number && (walk_number + life / 2) % stay == 0) move(drawn_hart(&state));
    walk_program(began);
    uc_op();
  }
}

static void wander(void* unused) {
  (void)unused;
  unsigned hart = 0;
  if (life) {
    run_programs(loop_plan());
    return;
  }
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
  uc_require(lines && stay, "lines and stay must be 1 or more");
  uc_sched_setup(n);
  harts = n;
  set = uc_alloc(lines * sizeof *set, (unsigned)set_node);
  costs = uc_alloc(n * sizeof *costs, 0);
  for (uint64_t k = 0; k < lines; k++) set[k].next = (k + 1) % lines;
  node_set = uc_alloc(uc_nodes() * sizeof *node_set, 0);
  for (unsigned node = 0; life && node < uc_nodes(); node++)
    node_set[node] = uc_alloc(lines * sizeof *set, node);
  uc_table_make(&refill, 2, n);
  uc_table_make(&accesses, 1, 2);
  uc_thread_create(wander, NULL, uc_cpuset_one(0));
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}

void uc_finish(unsigned n) {
  *uc_cell(&accesses, 0, 0) = near;
  *uc_cell(&accesses, 0, 1) = far;
  uint64_t used = 0;
  for (unsigned node = 0; life && node < uc_nodes(); node++)
    for (uint64_t k = 0; k < lines; k++) used += node_set[node][k].walks;
  uc_check(used == near + far, "a program lost what it wrote");
  for (unsigned hart = 0; hart < n; hart++) {
    if (!costs[hart].moves) continue;
    uint64_t walked = costs[hart].moves * lines;
    *uc_cell(&refill, 0, hart) = costs[hart].first_ns * 1000 / walked;
    *uc_cell(&refill, 1, hart) = costs[hart].second_ns * 1000 / walked;
  }
}
