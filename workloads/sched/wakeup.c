// tsleep and wakeup: the time to make a sleeping thread run, on this processor or another.
//
// Sleep and wakeup on an address are Unix's oldest primitive. Dillon (2005) measured them on the
// two cores of an Athlon. On one core, wakeup takes 0.3 microseconds and the switch 1. To wake a
// thread of the other core it only sends a message (`by=message`, ipiq.h), in 75 ns, and the target
// needs 1.7 microseconds for interrupt and switch. In other kernels the waker itself changes the
// sleep queue and the other core's run queue, and fetches their lines (`by=lock`).
//
// A waker on hart h has its sleeper on hart h xor `distance`: 0 is the same hart, 1 the neighbour;
// if there is no such hart, the sleeper is on hart h too. The waker waits until the sleeper is
// asleep and its hart idle (`think`), wakes it and waits until it has run.
//
// With `space=process` the sleeper is a process: as in DragonFly's cpu_heavy_switch and
// cpu_heavy_restore (sys/i386/i386/swtch.s), it leaves and enters the set of processors that use
// its memory, which takes two locked instructions, and saves and restores its floating-point state.
// Its page tables are loaded, which waits for all that went before and empties the TLB, so that for
// each of the `pages` that it uses next an entry of the directory and one of a table are read.
//
// Check: each wakeup finds one sleeper, which runs once for it.
#include "ipiq.h"
#include "loop.h"
#include "scheduler.h"
#include "uncore.h"

UC_WORKLOAD("tsleep and wakeup, on the same hart or another");
UC_PARAM(u64, distance, 1, "xor",
         "of the numbers of a waker's hart and its sleeper's; 0: the same");
UC_PARAM(duration, think, 1000, "ns", "from the sleeper's going to sleep to its wake-up");
enum by { BY_LOCK, BY_MESSAGE };
UC_PARAM(choice, by, BY_LOCK, "lock|message",
         "the waker enters the queues, or asks the sleeper's hart");
enum space { SPACE_KERNEL, SPACE_PROCESS };
UC_PARAM(choice, space, SPACE_KERNEL, "kernel|process",
         "whose memory a sleeper uses: page tables of its own are loaded when it runs");
UC_PARAM(u64, pages, 16, "pages", "that a process uses before it has returned from its sleep");
UC_TABLE(wakeup, "ps", "time wakeup took, mean; one column per waking hart");
UC_TABLE(woken, "ps", "from the start of wakeup to the return from sleep, mean; likewise");

static struct pair {
  UC_ALIGNED _Atomic uint64_t asleep;  // number of sleeps begun
  _Atomic uint64_t ran;                // number of sleeps ended
  uint64_t sum_woken;                  // sum of the times at which sleeps ended
  UC_ALIGNED _Atomic uint64_t due;     // number of wake-ups begun
  _Atomic bool over;
  uint64_t sum_begun, sum_called;  // sums of the start times and durations of wake-ups
}* pairs;

static unsigned harts;

#define FLOATING_POINT_WORDS 64  // of FXSAVE: 512 bytes

struct page_entry {
  UC_ALIGNED struct page_entry* volatile next_level;  // each entry is on its own line
  volatile uint64_t frame;
};

static struct process {
  UC_ALIGNED _Atomic uint64_t active;  // processors that use its memory
  UC_ALIGNED volatile uint64_t floating_point[FLOATING_POINT_WORDS];
  struct page_entry *directory, *table;
}* processes;

static void process_setup(struct process* process) {
  process->directory = uc_alloc(sizeof *process->directory, 0);
  process->table = uc_alloc(pages * sizeof *process->table, 0);
  process->directory->next_level = process->table;
}

static uint64_t process_bit(void) { return 1ULL << uc_id() % 64; }

static void process_leave(struct process* process) {
  atomic_fetch_and_explicit(&process->active, ~process_bit(), memory_order_relaxed);
  for (unsigned i = 0; i < FLOATING_POINT_WORDS; i++) process->floating_point[i] = i;
}

static void process_enter(struct process* process) {
  atomic_fetch_or_explicit(&process->active, process_bit(), memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);  // loads the page tables, empties the TLB
  for (uint64_t i = 0; i < pages; i++) (void)process->directory->next_level[i].frame;
  for (unsigned i = 0; i < FLOATING_POINT_WORDS; i++) (void)process->floating_point[i];
}

static unsigned partner(unsigned hart) {
  return (hart ^ distance) < harts ? (unsigned)(hart ^ distance) : hart;
}

// ---- The sleeper --------------------------------------------------------------------------------

static bool must_sleep(struct pair* pair, uint64_t round) {
  return atomic_load_explicit(&pair->due, memory_order_acquire) < round &&
         !atomic_load_explicit(&pair->over, memory_order_acquire);
}

static void sleep_thread(void* argument) {
  struct pair* pair = argument;
  for (uint64_t round = 1;; round++) {
    uc_sleepq_lock(pair);
    while (must_sleep(pair, round)) {
      atomic_store_explicit(&pair->asleep, round, memory_order_release);
      struct process* process = space == SPACE_PROCESS ? &processes[uc_id()] : NULL;
      if (process) process_leave(process);
      uc_sleepq_wait(pair);
      if (process) process_enter(process);
      uc_sleepq_lock(pair);
    }
    uc_sleepq_release(pair);
    if (atomic_load_explicit(&pair->due, memory_order_acquire) < round) return;
    pair->sum_woken += uc_now();
    atomic_store_explicit(&pair->ran, round, memory_order_release);
  }
}

// ---- The waker ----------------------------------------------------------------------------------

// Waits for the sleeper. If it is on this hart (`same_hart`), it runs only when this thread yields.
static void await(_Atomic uint64_t* word, uint64_t round, bool same_hart) {
  while (same_hart && atomic_load_explicit(word, memory_order_acquire) < round) uc_yield();
  while (atomic_load_explicit(word, memory_order_acquire) < round) uc_pause();
}

static void wake_here(void* pair, uint64_t unused) {
  (void)unused;
  uc_check((UC_SABOTAGE ? 0 : uc_wakeup(pair)) == 1, "a wakeup did not find its sleeper");
}

static void wake(struct pair* pair, uint64_t round, unsigned sleeper) {
  atomic_store_explicit(&pair->due, round, memory_order_release);
  uint64_t begun = uc_now();
  if (by == BY_MESSAGE && sleeper != uc_id())
    ipiq_send(sleeper, wake_here, pair, 0);
  else
    wake_here(pair, 0);
  pair->sum_called += uc_now() - begun;
  pair->sum_begun += begun;
}

static void wake_thread(void* argument) {
  unsigned id = uc_id();
  struct pair* pair = argument;
  bool same_hart = partner(id) == id;
  uint64_t round = 0;
  for (struct loop loop = loop_plan(); loop_more(&loop) && !(UC_SABOTAGE && round);) {
    await(&pair->asleep, ++round, same_hart);
    uc_delay(think);
    uc_start();
    wake(pair, round, partner(id));
    if (!UC_SABOTAGE) await(&pair->ran, round, same_hart);
    uc_op();
  }
  atomic_store_explicit(&pair->over, true, memory_order_release);
  uc_wakeup(pair);
  if (!round) return;
  *uc_cell(&wakeup, 0, id) = pair->sum_called * 1000 / round;
  *uc_cell(&woken, 0, id) = (pair->sum_woken - pair->sum_begun) * 1000 / round;
}

// Makes a waker and a sleeper for each pair of harts. The waker is on the lower-numbered hart.
void uc_setup(unsigned n) {
  harts = n;
  uc_sched_setup(n);
  ipiq_setup(n);
  pairs = uc_alloc(n * sizeof *pairs, 0);
  processes = uc_alloc(n * sizeof *processes, 0);
  for (unsigned hart = 0; hart < n; hart++) process_setup(&processes[hart]);
  uc_table_make(&wakeup, 1, n);
  uc_table_make(&woken, 1, n);
  for (unsigned hart = 0; hart < n; hart++) {
    if (partner(hart) < hart) continue;
    uc_thread_create(sleep_thread, &pairs[hart], uc_cpuset_one(partner(hart)));
    uc_thread_create(wake_thread, &pairs[hart], uc_cpuset_one(hart));
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  ipiq_start();
  loop_attend();
  uc_sched_run();
  loop_end();
}
