// getuid: a system call that writes no shared line, so it costs only the kernel's entry and exit.
//
// The result is a field of the process's credential. Credentials never change: setuid() publishes a
// new one, so reading takes no lock. A thread keeps a reference to a credential (td_ucred), and on
// each entry checks whether it is still the process's, so it need not count a reference for each
// call (FreeBSD 12 compares td_cowgen and p_cowgen). Without setuid nobody writes these lines, and
// all harts have copies: throughput rises with the cores, less if two threads share one. FreeBSD 12
// made 14.2 million calls a second on one core of an EPYC 7601 (Macy 2018), 70 ns each.
//
// A thread changes its process's credential after every `setuid_every` calls, if that is not 0.
//
// Check: a call returns the caller's user, and never an older one than the call before.
#include "calls.h"
#include "process.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path getuid: a credential that is read, nothing shared");
UC_PARAM(u64, work, 290, "instructions", "entry, exit and private work of one call");
UC_PARAM(u64, setuid_every, 0, "calls", "a thread changes the credential after so many; 0: never");

struct credential {
  UC_ALIGNED uint64_t user;  // in process p: p * USERS + 1 + number of changes
};
#define USERS (1ull << 32)

static struct process {
  UC_ALIGNED _Atomic(struct credential*) credential;
}* processes;

static struct thread {
  UC_ALIGNED struct credential* credential;  // the task's pointer to the current credential
  uint64_t calls;
  uint64_t seen;  // user at the task's last call
}* threads;

static struct credential* credential_make(uint64_t user) {
  struct credential* credential = uc_alloc(sizeof *credential, 0);
  credential->user = user;
  return credential;
}

void uc_setup(unsigned n) {
  struct credential* nobody = credential_make(0);
  processes = uc_alloc(n * sizeof *processes, 0);
  threads = uc_alloc(n * sizeof *threads, 0);
  for (unsigned i = 0; i < n; i++) {
    processes[i].credential = credential_make(i * USERS + 1);
    threads[i].credential = nobody;
    threads[i].seen = process_of(i) * USERS + 1;
  }
}

static void setuid(struct process* process) {
  struct credential* old = atomic_load_explicit(&process->credential, memory_order_acquire);
  struct credential* changed = credential_make(old->user + 1);
  // If another thread has changed the credential first, this change is dropped.
  atomic_compare_exchange_strong_explicit(&process->credential, &old, changed, memory_order_release,
                                          memory_order_relaxed);
}

static uint64_t getuid(struct thread* self, struct process* process) {
  struct credential* current = atomic_load_explicit(&process->credential, memory_order_acquire);
  if (self->credential != current && !UC_SABOTAGE) self->credential = current;
  uc_work((int64_t)work);
  return self->credential->user;
}

static void call(unsigned id) {
  struct thread* self = &threads[id];
  struct process* process = &processes[process_of(id)];
  uint64_t user = getuid(self, process);
  uc_check(user >= self->seen, "an older credential than before");
  uc_check(user / USERS == process_of(id), "the credential of another process");
  self->seen = user;
  if (setuid_every && ++self->calls % setuid_every == 0) setuid(process);
}
