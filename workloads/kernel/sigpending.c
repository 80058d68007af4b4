// sigpending, kill and sigwait: one call returns the union of two sets.
//
// A signal is pending for a process, and any of its threads may take it, or for one thread.
// sigpending returns the union of both sets, so it commutes with no signal sent to the process,
// although many callers only want their thread's set. Clements (2014) names it, with fork and stat,
// as a call that combines too much. FreeBSD reads both with the process locked (sys_sigpending in
// kern/kern_sig.c of 12.0: PROC_LOCK, p_sigqueue and td_sigqueue); a sender locks it, too.
//
// `asked=both` is POSIX's call. `asked=own` reads the thread's own set without the lock; only
// signals for this thread write its line. The first `senders` tasks send a signal to the process
// and take it back, as sigwait does; the others call sigpending.
//
// With asked=both the threads of one process contend for its lock, and throughput falls with each
// further thread. With asked=own they share no written line, and throughput is like getuid's.
// Processes (`tasks=processes`) never contend.
//
// Check: sigpending returns only signals that are sent, and none stays pending.
#define TASKS THREADS
#include "calls.h"
#include "mtx.h"
#include "process.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path sigpending: the process's signals and the thread's, or these alone");
enum kind { SIGPENDING, KILL };
UC_KINDS("sigpending|kill");
enum asked { ASKED_BOTH, ASKED_OWN };
UC_PARAM(choice, asked, ASKED_BOTH, "both|own", "sets of signals that a call returns");
UC_PARAM(u64, senders, 1, "tasks", "that send signals to the process; the others ask");
UC_PARAM(u64, work, 300, "instructions", "entry, exit and private work of a call");

#define SIGNALS 64

static struct process {
  UC_ALIGNED struct mtx lock;
  uint64_t pending;          // the set; it shares a line with the lock, as p_sigqueue with p_mtx
  uint64_t counts[SIGNALS];  // how often each signal is pending
}* processes;

static struct thread {
  UC_ALIGNED _Atomic uint64_t pending;
}* threads;

static uint64_t sigpending(unsigned id) {
  uc_kind(SIGPENDING);
  uc_work((int64_t)work);
  uint64_t own = atomic_load_explicit(&threads[id].pending, memory_order_acquire);
  if (asked == ASKED_OWN) return own;
  struct process* process = &processes[process_of(id)];
  mtx_lock(&process->lock);
  uint64_t both = own | process->pending;
  mtx_unlock(&process->lock);
  return both;
}

// Sends a signal. A signal that is already pending counts once more, as queued signals do.
static void kill_process(struct process* process, unsigned signal) {
  mtx_lock(&process->lock);
  process->counts[signal]++;
  if (!UC_SABOTAGE) process->pending |= 1ull << signal;
  mtx_unlock(&process->lock);
}

static void sigwait(struct process* process, unsigned signal) {
  mtx_lock(&process->lock);
  uc_check(process->pending >> signal & 1, "a signal was lost before it was taken");
  if (--process->counts[signal] == 0) process->pending &= ~(1ull << signal);
  mtx_unlock(&process->lock);
}

static void send_and_take(unsigned id) {
  struct process* process = &processes[process_of(id)];
  unsigned signal = id % SIGNALS;
  uc_kind(KILL);
  kill_process(process, signal);
  uc_work((int64_t)work);
  sigwait(process, signal);
}

static uint64_t signals_sent(void) {
  return senders >= SIGNALS ? UINT64_MAX : (1ull << senders) - 1;
}

static void call(unsigned id) {
  if (id < senders) {
    send_and_take(id);
    return;
  }
  uint64_t seen = sigpending(id);
  uc_check(!(seen & ~signals_sent()), "a signal is pending that nobody sent");
}

void uc_setup(unsigned n) {
  mtx_setup(n);
  processes = uc_alloc(n * sizeof *processes, 0);
  threads = uc_alloc(n * sizeof *threads, 0);
}

void uc_finish(unsigned n) {
  for (unsigned i = 0; i < n; i++) uc_check(!processes[i].pending, "a signal stayed pending");
}
