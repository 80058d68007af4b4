// More threads than harts: a user's cpuset(1) decides on which harts each pair may run.
//
// Macy (2018): the placement of communicating threads decides throughput between sockets, but a
// scheduler does not know which threads communicate; with the cpuset command a user can place them.
// Here the threads are pairs that pass a token back and forth; each sleeps while the other has it.
// There are `pairs` pairs for each hart, so several threads share a hart, which is seldom idle.
// `policy` decides where the two threads of a pair may run:
//
//     any       anywhere: the scheduler takes a free hart near the last one, or the least loaded
//     group     both within the same `group` neighbouring harts
//     together  both on one hart: each token costs a thread switch, and no line moves
//     apart     on two harts whose numbers differ by half of all harts: each token's lines move
//
// An operation is a token passed on.
//
// Check: a token arrives with the expected number, on a hart on which the thread may run.
#include "loop.h"
#include "scheduler.h"
#include "uncore.h"

UC_WORKLOAD("More threads than harts: pairs pass tokens, placed as a cpuset says");
enum policy { POLICY_ANY, POLICY_GROUP, POLICY_TOGETHER, POLICY_APART };
UC_PARAM(choice, policy, POLICY_ANY, "any|group|together|apart", "where the two of a pair may run");
UC_PARAM(u64, group, 4, "harts", "of a group, neighbours by number");
UC_PARAM(u64, pairs, 1, "pairs", "of threads, for each hart");
UC_PARAM(duration, work, 200, "ns", "that a thread computes while it has the token");
UC_PARAM(u64, lines, 2, "lines", "that go with the token: read and written by both");

static struct pair {
  UC_ALIGNED _Atomic uint64_t token;  // number of passes; even: the first thread's turn
  _Atomic bool over;
  const struct uc_cpuset* where[2];
  UC_ALIGNED struct line {
    _Alignas(64) volatile uint64_t passed;
  } lines[];
}* first_pair;
static uint64_t pair_size;
static unsigned harts;

static struct pair* pair_of(uint64_t number) {
  return (struct pair*)((char*)first_pair + number * pair_size);
}

static bool has_turn(struct pair* pair, uint64_t side) {
  return UC_SABOTAGE || atomic_load_explicit(&pair->token, memory_order_acquire) % 2 == side;
}

static bool may_go(struct pair* pair, uint64_t side) {
  return has_turn(pair, side) || atomic_load_explicit(&pair->over, memory_order_acquire);
}

// Waits for a thread's turn. Returns false if there is none, because the other thread has ended.
static bool await_turn(struct pair* pair, uint64_t side) {
  while (!may_go(pair, side)) {
    uc_sleepq_lock(pair);
    if (may_go(pair, side))
      uc_sleepq_release(pair);
    else
      uc_sleepq_wait(pair);
  }
  return has_turn(pair, side);
}

static void hold_token(struct pair* pair, uint64_t expected) {
  uc_check(pair->token == expected, "a token was passed twice or lost");
  for (uint64_t i = 0; i < lines; i++)
    uc_check(pair->lines[i].passed++ == expected, "a token came without its data");
  uc_delay(work);
  atomic_store_explicit(&pair->token, expected + 1, memory_order_release);
  uc_wakeup(pair);
}

static void pass_tokens(void* argument) {
  struct pair* pair = pair_of((uint64_t)argument / 2);
  uint64_t side = (uint64_t)argument % 2, expected = side;
  for (struct loop loop = loop_plan(); loop_more(&loop); expected += 2) {
    uc_start();
    if (!await_turn(pair, side)) return;
    uc_check(uc_cpuset_has(pair->where[side], uc_id()), "a thread ran where it must not");
    hold_token(pair, expected);
    uc_op();
  }
  atomic_store_explicit(&pair->over, true, memory_order_release);
  uc_wakeup(pair);
}

static const struct uc_cpuset* group_of(unsigned hart) {
  unsigned size = group < 1 ? 1 : group < harts ? (unsigned)group : harts;
  unsigned first = hart / size * size;
  return uc_cpuset_range(first, first + size < harts ? size : harts - first);
}

static void place(struct pair* pair, unsigned hart) {
  pair->where[0] = policy == POLICY_ANY     ? NULL
                   : policy == POLICY_GROUP ? group_of(hart)
                                            : uc_cpuset_one(hart);
  pair->where[1] =
      policy == POLICY_APART ? uc_cpuset_one((hart + harts / 2) % harts) : pair->where[0];
}

void uc_setup(unsigned n) {
  harts = n;
  uc_sched_setup(n);
  pair_size = (sizeof(struct pair) + lines * sizeof(struct line) + UC_BLOCK - 1) & -UC_BLOCK;
  first_pair = uc_alloc(n * pairs * pair_size, 0);
  for (uint64_t number = 0; number < n * pairs; number++) {
    struct pair* pair = pair_of(number);
    place(pair, (unsigned)(number % n));
    for (uint64_t side = 0; side < 2; side++)
      uc_thread_create(pass_tokens, (void*)(2 * number + side), pair->where[side]);
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}
