// Runs harts as threads of this computer. This file replaces the guest's start.S, trap.c, clock.c,
// console.c and memory.c; guest and host share the other files of the runtime.
//
// Command line: n=HARTS name=value ..., as for a guest. Environment: UNCORE_CPUS, the processors to
// which harts 0, 1, ... are pinned, separated by commas; UNCORE_NODES, the number of memory nodes;
// UNCORE_PROGRESS, a file descriptor to which a byte is written for each part done.
//
// An IPI is a signal to the hart's thread. Interrupts are turned off by a flag (`on`), because a
// system call each time would cost more than the code it guards. A handler that finds them off sets
// `pending`, and the code that turns them on again takes the IPI. Two signals under way merge, as
// in the hardware's pending bit.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../runtime.h"

#define ARENA (1ul << 34)  // bytes of address space for each node; touched pages take memory
#define IPI SIGUSR1
#define PAUSES_BEFORE_YIELD 256

static _Thread_local struct {
  unsigned id, pauses;
} self;

static struct host_hart {
  UC_ALIGNED pthread_t thread;
  volatile bool accepts, on, pending;  // about IPIs: accepted at all, turned on, one is pending
} hosts[UC_MAX_HARTS];

// ---- Identity and time --------------------------------------------------------------------------

unsigned uc_id(void) { return self.id; }
struct uc_record* uc_self(void) { return &uc_record[self.id].record; }

uint64_t uc_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void uc_clock_start(void) {}

void uc_work(int64_t n) {
  for (; n > 0; n -= 2) __asm__ volatile("" ::: "memory");
}

// Yields now and then: with more threads than processors the awaited thread may have none.
void uc_pause(void) {
  if (++self.pauses % PAUSES_BEFORE_YIELD == 0)
    sched_yield();
  else
    __builtin_ia32_pause();
#ifdef __SANITIZE_THREAD__
  uc_now();  // ThreadSanitizer delivers signals only at calls that it intercepts
#endif
}

// ---- Interrupts ---------------------------------------------------------------------------------

static void take_ipi(struct host_hart* host) {
  struct uc_hart* hart = uc_hart();
  host->on = false;
  host->pending = false;
  hart->ipis_taken = hart->ipis_taken + 1;
  if (hart->on_ipi) hart->on_ipi();
  host->on = true;
}

static void on_signal(int signal) {
  (void)signal;
  struct host_hart* host = &hosts[self.id];
  host->pending = true;
  if (host->on && host->accepts) take_ipi(host);
}

bool uc_interrupts_off(void) {
  struct host_hart* host = &hosts[self.id];
  bool before = host->on;
  host->on = false;
  atomic_signal_fence(memory_order_seq_cst);
  return before;
}

void uc_interrupts_restore(bool on) {
  struct host_hart* host = &hosts[self.id];
  atomic_signal_fence(memory_order_seq_cst);
  if (!on) return;
  host->on = true;
  while (host->pending && host->accepts) take_ipi(host);
}

void uc_accept_ipis(bool on) { hosts[self.id].accepts = on; }

void uc_ipi(unsigned hart) { pthread_kill(hosts[hart].thread, IPI); }

void uc_ipi_many(const uint64_t set[], unsigned n) {
  for (unsigned hart = 0; hart < n; hart++)
    if (set[hart / 64] >> hart % 64 & 1) uc_ipi(hart);
}

void uc_sleep_until_interrupt(void) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, IPI);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  if (!hosts[self.id].pending) sigsuspend(&before);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_alarm(int signal) {
  (void)signal;
  static const char text[] = "uc: check failed hart=0 times=1 the program has not ended in time\n";
  (void)!write(STDOUT_FILENO, text, sizeof text - 1);
  _exit(UC_EXIT_CHECK_FAILED);
}

void uc_patience(uint64_t ns) {
  struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  signal(SIGALRM, on_alarm);
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &(struct itimerspec){.it_value = left}, NULL);
}

// ---- Memory -------------------------------------------------------------------------------------

static struct {
  UC_ALIGNED _Atomic uint64_t next;
  uint64_t end;
} arenas[UC_MAX_NODES];

static unsigned nodes = 1;

unsigned uc_nodes(void) { return nodes; }

// Asks the kernel for memory of a node (MPOL_PREFERRED); if it has none, any node will do.
static void prefer(void* arena, unsigned node) {
  const long preferred = 1;
  unsigned long mask[UC_MAX_NODES / 64 + 1] = {0};
  mask[node / 64] = 1ul << node % 64;
  if (nodes > 1) syscall(SYS_mbind, arena, ARENA, preferred, mask, UC_MAX_NODES + 1, 0);
}

void uc_memory_start(unsigned harts) {
  (void)harts;
  const char* node_count = getenv("UNCORE_NODES");
  if (node_count) nodes = (unsigned)atoi(node_count);
  if (nodes > UC_MAX_NODES) uc_fatal("more nodes than UC_MAX_NODES: ", nodes);
  for (unsigned node = 0; node < nodes; node++) {
    void* arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) uc_fatal("no addresses for memory node ", node);
    prefer(arena, node);
    arenas[node].next = (uint64_t)arena;
    arenas[node].end = (uint64_t)arena + ARENA;
  }
}

void* uc_alloc(size_t size, unsigned node) {
  if (node >= nodes) uc_fatal("uc_alloc: there is no memory node ", node);
  size = (size + UC_BLOCK - 1) & ~(size_t)(UC_BLOCK - 1);
  uint64_t block = atomic_fetch_add_explicit(&arenas[node].next, size, memory_order_relaxed);
  if (block + size > arenas[node].end) uc_fatal("uc_alloc: no memory left on node ", node);
  return (void*)block;
}

// ---- Console ------------------------------------------------------------------------------------

static char* command_line = "";

void uc_put(const char* text) { fputs(text, stdout); }
void uc_put_number(uint64_t number) { printf("%lu", number); }
void uc_put_hex(uint64_t number) { printf("%#lx", number); }

static int progress = -1;

void uc_progress(void) {
  if (progress >= 0) (void)!write(progress, ".", 1);
}

bool uc_command_line(char* buffer, size_t size) {
  return snprintf(buffer, size, "%s", command_line) < (int)size;
}

_Noreturn void uc_exit(int code) {
  fflush(stdout);
  _exit(code);
}

_Noreturn void uc_park(void) {
  for (;;) pause();
}

// ---- The first thread and the others ------------------------------------------------------------

static void pin(unsigned hart) {
  const char* at = getenv("UNCORE_CPUS");
  if (!at) return;
  for (unsigned i = 0; i < hart && at; i++)
    if ((at = strchr(at, ','))) at++;
  if (!at) uc_fatal("UNCORE_CPUS names no processor for hart ", hart);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)atoi(at), &set);
  if (sched_setaffinity(0, sizeof set, &set)) uc_fatal("no such processor, for hart ", hart);
}

// Pins the thread, and then asks the kernel for its memory node.
static void* hart_main(void* number) {
  self.id = (unsigned)(uintptr_t)number;
  pin(self.id);
  unsigned cpu, node = 0;
  if (nodes > 1 && !syscall(SYS_getcpu, &cpu, &node, NULL) && node < nodes) uc_self()->node = node;
  uc_run(self.id);
}

int main(int words, char** word) {
  size_t size = 1;
  for (int i = 0; i < words; i++) size += strlen(word[i]) + 1;
  command_line = calloc(size, 1);
  for (int i = 0; i < words; i++) strcat(strcat(command_line, i ? " " : ""), i ? word[i] : "host");
  if (getenv("UNCORE_PROGRESS")) progress = atoi(getenv("UNCORE_PROGRESS"));
  uc_boot.harts = uc_arguments();
  if (uc_boot.harts > UC_MAX_HARTS) uc_fatal("more harts than UC_MAX_HARTS: ", uc_boot.harts);

  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(IPI, &action, NULL);
  for (uint64_t hart = 1; hart < uc_boot.harts; hart++)
    if (pthread_create(&hosts[hart].thread, NULL, hart_main, (void*)hart))
      uc_fatal("the system gives no thread for hart ", hart);
  hosts[0].thread = pthread_self();
  hart_main(NULL);
}
