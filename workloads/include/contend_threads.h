// The common part of the workloads of kernel locks, without the lock itself: threads contend for a
// lock that has two modes and may put them to sleep.
//
// There may be more threads than harts (`threads`), and a thread may be switched out in the middle
// of a critical section (`preempt`): a waiter then spins in vain, or sleeps. Every `write_every`-th
// operation of a thread is exclusive, the others are shared.
//
// A lock's file includes this header and defines the five functions declared below. Before the
// include, a lock with one mode defines CONTEND_WRITE_EVERY as 1; a lock that every hart has to
// join defines CONTEND_HART_SETUP as the function that each hart calls first.
//
// The lock guards `guarded` lines, which a writer writes and a reader reads. With `guarded` = 0
// harts share only the lines of the lock itself.
//
// Check: no writer is inside with a reader, which finds the same count in all guarded lines when it
// enters and when it leaves, or with another writer; the count ends at the number of writes. If no
// line is guarded, exclusion is not checked.
#ifndef UNCORE_CONTEND_THREADS_H_
#define UNCORE_CONTEND_THREADS_H_

#include "loop.h"
#include "scheduler.h"
#include "uncore.h"

#ifndef CONTEND_WRITE_EVERY
#define CONTEND_WRITE_EVERY 10
#endif

#define GUARDED_USUAL 2

UC_PARAM(u64, write_every, CONTEND_WRITE_EVERY, "operations",
         "every how manyth operation of a thread is exclusive; 0: none");
UC_PARAM(u64, threads, 1, "threads", "threads for each hart");
UC_PARAM(u64, preempt, 0, "operations",
         "every how manyth critical section of a thread lets another thread run; 0: none");
UC_PARAM(duration, hold, 0, "ns", "time inside the critical section");
UC_PARAM(duration, think, 0, "ns", "time outside, after each release");
UC_PARAM(u64, lock_node, 0, "node", "memory node of the lock and of what it guards");
UC_OPTION(u64, guarded_lines, guarded, GUARDED_USUAL, "lines",
          "lines that writers write and readers read; 0: none, and exclusion is not checked");

static void lock_setup(unsigned n);
static void lock_exclusive(void);
static void unlock_exclusive(void);
static void lock_shared(void);
static void unlock_shared(void);

// Volatile, so that the compiler keeps each access; not atomic, because the lock protects them.
static struct guarded {
  UC_ALIGNED volatile uint64_t writes;
  volatile const void* writer;  // in the first line: the thread that writes, or null
}* guarded;

// The number of writes by the threads of each hart, which are summed up at the end.
static struct written {
  UC_ALIGNED _Atomic uint64_t writes;
}* written;

static void inside(bool preempted) {
  uc_delay(hold);
  if (preempted) uc_yield();
}

static inline uint64_t guarded_number(bool usual) { return usual ? GUARDED_USUAL : guarded_lines; }

UC_SPECIALISED void write_guarded(bool preempted, bool usual) {
  const void* self = uc_thread_self();
  uc_check(!guarded->writer, "a writer entered while another was inside");
  guarded->writer = self;
  uint64_t writes = guarded->writes;
  inside(preempted);
  for (uint64_t k = 0; k < guarded_number(usual); k++) guarded[k].writes = writes + 1;
  uc_check(guarded->writer == self, "another writer entered meanwhile");
  guarded->writer = NULL;
}

UC_SPECIALISED void write_once(bool preempted, bool usual) {
  if (!UC_SABOTAGE) lock_exclusive();
  if (guarded_number(usual))
    write_guarded(preempted, usual);
  else
    inside(preempted);
  if (!UC_SABOTAGE) unlock_exclusive();
  atomic_fetch_add_explicit(&written[uc_id()].writes, 1, memory_order_relaxed);
}

UC_SPECIALISED uint64_t look(bool usual) {
  if (!guarded_number(usual)) return 0;
  uint64_t writes = guarded->writes;
  uc_check(!guarded->writer, "a reader and a writer were inside together");
  for (uint64_t k = 1; k < guarded_number(usual); k++)
    uc_check(guarded[k].writes == writes, "a reader saw one half of a write");
  return writes;
}

UC_SPECIALISED void read_once(bool preempted, bool usual) {
  if (!UC_SABOTAGE) lock_shared();
  uint64_t before = look(usual);
  inside(preempted);
  uc_check(look(usual) == before, "something was written while a reader was inside");
  if (!UC_SABOTAGE) unlock_shared();
}

// Threads begin to count at different numbers, so that they do not all write at the same time.
UC_SPECIALISED void contend_run(void* number, bool usual) {
  uint64_t turn = (uint64_t)number;
  struct loop loop = loop_plan();
  while (loop_more(&loop)) {
    turn++;
    bool preempted = preempt && turn % preempt == 0;
    uc_start();
    if (write_every && turn % write_every == 0)
      write_once(preempted, usual);
    else
      read_once(preempted, usual);
    uc_op();
    uc_delay(think);
  }
}

static __attribute__((noinline)) void contend_as_set(void* number) { contend_run(number, false); }

static void contend(void* number) {
  if (guarded_lines == GUARDED_USUAL)
    contend_run(number, true);
  else
    contend_as_set(number);
}

void uc_setup(unsigned n) {
  uc_sched_setup(n);
  guarded = uc_alloc(guarded_lines * sizeof *guarded, (unsigned)lock_node);
  written = uc_alloc(n * sizeof *written, 0);
  lock_setup(n);
  for (uint64_t extra = n; extra < threads * n; extra++)
    uc_thread_create(contend, (void*)extra, uc_cpuset_range((unsigned)(extra % n), 1));
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
#ifdef CONTEND_HART_SETUP
  CONTEND_HART_SETUP();
#endif
  loop_attend();
  contend((void*)(uint64_t)id);
  uc_sched_run();
  loop_end();
  uc_barrier();  // threads still at work may need this hart's interrupt handler
}

void uc_finish(unsigned n) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < n; i++) sum += written[i].writes;
  uc_check(!guarded_lines || guarded->writes == sum, "writes were lost");
}

#endif  // UNCORE_CONTEND_THREADS_H_
