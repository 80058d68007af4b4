// Linux's RCU: every hart runs its own callbacks, and quiescent states are reported up a tree.
//
// McKenney, "Hierarchical RCU" (2008), Linux's kernel/rcu/tree.c. Classic RCU recorded the reports
// of all processors under one lock, which each took in every grace period. Here each node of a tree
// has a lock for its `fanout` children and counts those that have not reported (Linux has a mask).
// A hart reports to its leaf; the last child of a node to report also reports for the node, one
// level up. So at most `fanout` harts take a lock, leaves work in parallel, and a hart reads the
// number of the period from a line that only `fanout` share. With one node this is classic RCU.
// `reports=counter` has no tree and no lock: all harts read one period number, and decrement one
// count.
//
// The objects that a hart retires wait in its own list, in four segments (rcu_segcblist): their
// period has ended, is the next to end, is the one after that, or is not chosen yet. A hart that
// needs a period notes this in the nodes on its way to the root, up to a node that has the note
// already. Hart 0 does the work of Linux's grace-period kthread at its quiescent states: it begins
// and ends periods, and after every `scan` reports for idle harts (force_quiescent_state).
//
// Each hart reads the next hart's object, and replaces its own after every `update_every` reads.
//
// Check: a reader's object is alive, and in the same life, from get to release; and every retired
// object is freed in the end. With UC_WITNESS a reader also writes to the object.
#include "deferred.h"
#include "loop.h"
#include "queued_lock.h"

UC_WORKLOAD("RCU of Linux: callbacks of each hart, quiescent states that go up a tree");
enum reports { REPORTS_TREE, REPORTS_COUNTER };
UC_PARAM(choice, reports, REPORTS_TREE, "tree|counter", "where harts report quiescent states");
UC_PARAM(u64, fanout, 16, "children", "of a node of the tree, 2 or more");
UC_PARAM(u64, quiescent_every, 10, "reads", "a hart passes a quiescent state after so many");
UC_PARAM(u64, update_every, 20, "reads", "a hart replaces its object after so many");
UC_PARAM(u64, objects, 16, "objects", "of each hart; when all wait to be freed, it waits too");
UC_PARAM(duration, hold, 0, "ns", "time a reader uses its object");
UC_PARAM(duration, slow, 0, "ns", "time the last hart uses its object, if that is longer");
UC_PARAM(duration, think, 0, "ns", "time between two reads");
UC_PARAM(duration, scan, 100000, "ns", "time after which idle harts are looked for");
UC_TABLE(grace, "ns", "length of the first grace periods, a column each");
UC_TABLE(report, "ns", "what a report takes the hart, in the mean; a column per hart");

#define NOTED_PERIODS 50
#define MOST_LEVELS 16
#define FREED 0

struct object {
  UC_ALIGNED _Atomic uint64_t life;     // FREED, or the number of the update that published it
  volatile uint64_t used;               // with UC_WITNESS: the life in which a reader wrote last
  UC_ALIGNED struct deferred deferred;  // the owner's part
  struct object* next;                  // next of the free ones
  uint64_t published;
  unsigned owner;
};

// The period number is odd while a period is open; its end adds one, as its beginning does.
struct node {
  UC_ALIGNED union queued_lock lock;
  _Atomic uint64_t period;   // latest period number that was written to the node
  _Atomic uint64_t missing;  // children that have not reported
  _Atomic uint64_t wanted;   // latest end of a period that a hart below waits for
  uint64_t children;
  struct node* parent;
};

static struct node* nodes;  // breadth first: the root, and the leaves last
static unsigned node_count;
static struct queue_node* waiting;  // queue nodes for the nodes' locks, one per hart

// The state of a period with reports=counter. With a tree only `period` is used.
static struct central {
  UC_ALIGNED _Atomic uint64_t period;
  UC_ALIGNED _Atomic uint64_t missing;
  UC_ALIGNED _Atomic uint64_t wanted;
}* central;

static struct period_thread {
  uint64_t begun_ns, scanned_ns, ended;
  unsigned harts;
  UC_ALIGNED _Atomic uint64_t busy;  // number of harts that are not yet idle
}* period_thread;

struct segment {
  struct deferred_list list;
  uint64_t end;  // the objects may be freed when the period number reaches this
};

static struct hart {
  UC_ALIGNED struct deferred_list called;  // retired objects without a period
  struct segment first, second;
  struct deferred_list done;
  uint64_t heard;  // latest period number that the hart has read
  uint64_t reads, published, retired, freed;
  uint64_t reports, report_ns;
  struct object* free;
  struct node* leaf;
  UC_ALIGNED _Atomic uint64_t spoken;  // last period for which the hart, or hart 0 for it, reported
  _Atomic bool idle;
}* members;

static struct slot {
  UC_ALIGNED _Atomic(struct object*) current;
}* slots;

// ---- The tree -----------------------------------------------------------------------------------

static void node_lock(struct node* node) { queue_lock(&node->lock, waiting, uc_id()); }
static void node_unlock(struct node* node) { queue_unlock(&node->lock); }

static void tree_setup(unsigned n) {
  unsigned counts[MOST_LEVELS], levels = 0;
  for (unsigned below = n; !levels || below > 1; levels++) {
    below = (below + (unsigned)fanout - 1) / (unsigned)fanout;
    counts[levels] = below;
    node_count += below;
  }
  nodes = uc_alloc(node_count * sizeof *nodes, 0);
  waiting = uc_alloc(n * sizeof *waiting, 0);
  struct node* level = nodes;
  for (unsigned l = levels - 1; l > 0; l--) {
    struct node* below = level + counts[l];
    for (unsigned i = 0; i < counts[l - 1]; i++) {
      below[i].parent = &level[i / fanout];
      below[i].parent->children++;
    }
    level = below;
  }
  for (unsigned hart = 0; hart < n; hart++) {
    members[hart].leaf = &level[hart / fanout];
    members[hart].leaf->children++;
  }
}

// Reports for a child of the node and, if no other child is missing, for the node itself.
static void report_up(struct node* node) {
  bool last = true;
  for (; node && last; node = node->parent) {
    node_lock(node);
    uint64_t missing = atomic_load_explicit(&node->missing, memory_order_relaxed) - 1;
    atomic_store_explicit(&node->missing, missing, memory_order_release);
    node_unlock(node);
    last = !missing;
  }
}

static void ask_up(struct node* node, uint64_t end) {
  bool news = true;
  for (; node && news; node = node->parent) {
    node_lock(node);
    news = atomic_load_explicit(&node->wanted, memory_order_relaxed) < end;
    if (news) atomic_store_explicit(&node->wanted, end, memory_order_relaxed);
    node_unlock(node);
  }
}

// ---- Without a tree -----------------------------------------------------------------------------

static void ask_all(uint64_t end) {
  uint64_t wanted = atomic_load_explicit(&central->wanted, memory_order_relaxed);
  while (wanted < end &&
         !atomic_compare_exchange_weak_explicit(&central->wanted, &wanted, end,
                                                memory_order_relaxed, memory_order_relaxed)) {
  }
}

// ---- Harts --------------------------------------------------------------------------------------

static uint64_t period_heard(struct hart* self) {
  return atomic_load_explicit(reports == REPORTS_TREE ? &self->leaf->period : &central->period,
                              memory_order_acquire);
}

static void report_for(struct hart* hart, uint64_t period) {
  atomic_store_explicit(&hart->spoken, period, memory_order_relaxed);
  if (reports == REPORTS_TREE)
    report_up(hart->leaf);
  else
    atomic_fetch_sub_explicit(&central->missing, 1, memory_order_acq_rel);
}

static void report_own(struct hart* self, uint64_t period) {
  uint64_t begun = uc_now();
  report_for(self, period);
  self->report_ns += uc_now() - begun;
  self->reports++;
}

static void object_free(struct deferred* deferred) {
  struct object* object = (struct object*)((char*)deferred - offsetof(struct object, deferred));
  struct hart* self = &members[object->owner];
  atomic_store_explicit(&object->life, FREED, memory_order_relaxed);
  if (UC_WITNESS) {
    bool is_same_life = object->used == FREED || object->used == object->published;
    uc_check(is_same_life, "a reader wrote to an object of another life");
    object->used = FREED;
  }
  object->next = self->free;
  self->free = object;
  self->freed++;
}

// Moves objects whose period has ended to the list of those that may be freed.
static void segments_advance(struct hart* self, uint64_t period) {
  while (self->first.list.first && self->first.end <= period) {
    deferred_splice(&self->done, &self->first.list);
    self->first.end = self->second.end;
    deferred_splice(&self->first.list, &self->second.list);
  }
}

// Assigns the next period to objects that have none, and requests that period.
static void segments_assign(struct hart* self) {
  if (!self->called.first) return;
  atomic_thread_fence(memory_order_seq_cst);  // objects are unlinked before the period is read
  uint64_t now = atomic_load_explicit(&central->period, memory_order_relaxed);
  uint64_t end = (now + 3) & ~1ULL;  // end of the next period to begin
  bool empty = !self->first.list.first;
  struct segment* segment = empty || self->first.end == end ? &self->first : &self->second;
  if (segment->list.first && segment->end != end) return;
  segment->end = end;
  deferred_splice(&segment->list, &self->called);
  if (reports == REPORTS_TREE)
    ask_up(self->leaf, end);
  else
    ask_all(end);
}

static void serve_periods(void);

static void quiescent_state(struct hart* self) {
  uint64_t period = period_heard(self);
  self->reads = 0;
  if (period != self->heard) {
    self->heard = period;
    if (period & 1) report_own(self, period);
  }
  segments_advance(self, period);
  segments_assign(self);
  for (struct deferred* old; (old = deferred_take(&self->done));) deferred_run(old);
  if (self == members) serve_periods();
}

// Waits until a grace period has begun or ended. Hart 0 does not wait: it begins and ends them.
static void await_period(struct hart* self) {
  if (self != members)
    while (period_heard(self) == self->heard) uc_pause();
  quiescent_state(self);
}

// ---- The thread of grace periods ----------------------------------------------------------------

static void nodes_hear(uint64_t period) {
  for (unsigned i = 0; i < node_count; i++) {
    struct node* node = &nodes[i];
    node_lock(node);
    if (period & 1) atomic_store_explicit(&node->missing, node->children, memory_order_relaxed);
    atomic_store_explicit(&node->period, period, memory_order_release);
    node_unlock(node);
  }
}

static void period_begin(uint64_t period) {
  period_thread->begun_ns = period_thread->scanned_ns = uc_now();
  atomic_store_explicit(&central->missing, period_thread->harts, memory_order_relaxed);
  atomic_store_explicit(&central->period, period, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);  // the new number is visible before any report
  nodes_hear(period);
}

static void period_end(uint64_t period) {
  uint64_t number = period_thread->ended++;
  if (number < NOTED_PERIODS) *uc_cell(&grace, 0, number) = uc_now() - period_thread->begun_ns;
  atomic_store_explicit(&central->period, period, memory_order_release);
  nodes_hear(period);
}

static void scan_idle(uint64_t period) {
  period_thread->scanned_ns = uc_now();
  for (unsigned i = 0; i < period_thread->harts; i++) {
    struct hart* hart = &members[i];
    bool idle = atomic_load_explicit(&hart->idle, memory_order_acquire);
    if (idle && atomic_load_explicit(&hart->spoken, memory_order_relaxed) != period)
      report_for(hart, period);
  }
}

static bool all_reported(void) {
  if (UC_SABOTAGE) return true;  // sabotage: a period ends before all harts have reported
  return !atomic_load_explicit(reports == REPORTS_TREE ? &nodes->missing : &central->missing,
                               memory_order_acquire);
}

static bool period_wanted(uint64_t period) {
  return atomic_load_explicit(reports == REPORTS_TREE ? &nodes->wanted : &central->wanted,
                              memory_order_relaxed) > period;
}

static void serve_periods(void) {
  uint64_t period = atomic_load_explicit(&central->period, memory_order_relaxed);
  if (!(period & 1)) {
    if (period_wanted(period)) period_begin(period + 1);
    return;
  }
  if (!all_reported() && uc_now() - period_thread->scanned_ns >= scan) scan_idle(period);
  if (all_reported()) period_end(period + 1);
}

// ---- Readers and updates ------------------------------------------------------------------------

static uint64_t life(struct object* object) {
  return atomic_load_explicit(&object->life, memory_order_relaxed);
}

static void read_once(struct hart* self, struct slot* slot, uint64_t used_ns) {
  uc_start();
  struct object* object = atomic_load_explicit(&slot->current, memory_order_acquire);
  uint64_t found = life(object);
  uc_check(found != FREED, "a reader was given a freed object");
  uc_delay(used_ns);
  if (UC_WITNESS) object->used = found;
  uc_check(life(object) == found, "an object was freed while a reader used it");
  uc_op();
  if (++self->reads >= quiescent_every) quiescent_state(self);
}

static struct object* object_publish(struct hart* self, struct slot* slot) {
  struct object* object = self->free;
  self->free = object->next;
  if (UC_WITNESS) uc_check(object->used == FREED, "a reader wrote to an object that was freed");
  object->published = ++self->published;
  atomic_store_explicit(&object->life, object->published, memory_order_relaxed);
  return atomic_exchange(&slot->current, object);
}

static void object_replace(struct hart* self, struct slot* slot) {
  if (!self->free) quiescent_state(self);
  while (!self->free) await_period(self);
  struct object* before = object_publish(self, slot);
  before->deferred.callback = object_free;
  self->retired++;
  deferred_append(&self->called, &before->deferred);
}

static void hart_setup(unsigned id) {
  for (uint64_t i = 0; i < objects; i++) {
    struct object* object = uc_alloc(sizeof *object, uc_node_of(id));
    object->owner = id;
    object->next = members[id].free;
    members[id].free = object;
  }
  object_publish(&members[id], &slots[id]);
}

void uc_setup(unsigned n) {
  uc_require(fanout >= 2, "fanout must be 2 or more, or the tree would not end");
  uc_require(objects >= 2, "objects must be 2 or more: one in use, one to publish");
  members = uc_alloc(n * sizeof *members, 0);
  slots = uc_alloc(n * sizeof *slots, 0);
  central = uc_alloc(sizeof *central, 0);
  period_thread = uc_alloc(sizeof *period_thread, 0);
  period_thread->harts = n;
  period_thread->busy = n;
  uc_table_make(&grace, 1, NOTED_PERIODS);
  uc_table_make(&report, 1, n);
  tree_setup(n);
  for (unsigned id = 0; id < n; id++) hart_setup(id);
}

// Waits until all objects that this hart retired are freed; then marks it idle: it reads no more.
static void become_idle(struct hart* self) {
  quiescent_state(self);
  while (self->freed != self->retired) await_period(self);
  atomic_store_explicit(&self->idle, true, memory_order_release);
  atomic_fetch_sub_explicit(&period_thread->busy, 1, memory_order_relaxed);
}

void uc_main(unsigned id, unsigned n) {
  struct hart* self = &members[id];
  uint64_t until_update = update_every, used_ns = id + 1 == n && slow > hold ? slow : hold;
  for (struct loop loop = loop_begin(); loop_more(&loop);) {
    read_once(self, &slots[id + 1 == n ? 0 : id + 1], used_ns);
    if (!until_update || --until_update == 0) {
      object_replace(self, &slots[id]);
      until_update = update_every;
    }
    uc_delay(think);
  }
  loop_end();
  become_idle(self);
  if (id == 0)
    while (atomic_load_explicit(&period_thread->busy, memory_order_relaxed)) serve_periods();
}

void uc_finish(unsigned n) {
  for (unsigned id = 0; id < n; id++) {
    struct hart* hart = &members[id];
    uc_check(hart->freed == hart->retired, "retired objects were never freed");
    if (hart->reports) *uc_cell(&report, 0, id) = hart->report_ns / hart->reports;
  }
}
