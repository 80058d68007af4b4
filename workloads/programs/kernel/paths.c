// Measures calls that involve other CPUs of a simulated kernel. Prints the time of a call in
// microseconds: the median of ROUNDS calls of one task on CPU 0, after one that is not counted.
//
//     paths munmap|protect|membarrier|expedited|grace N...   while N threads run on other CPUs
//     paths far CPU...        munmap, while one thread runs on that CPU
//     paths futex CPU...      half a round trip: wakes a thread on that CPU, which wakes this one
//     paths sleepers N...     one FUTEX_WAKE of N threads on other CPUs
//     paths mutex N...        time from a release of a lock to its next owner; N threads on other
//                             CPUs want the lock, and each holds it until the others sleep
//
// The other threads are on CPUs FIRST, FIRST + STRIDE, ... from the environment (default 1 and 1).
// munmap unmaps a page that was touched; protect write-protects one with mprotect; membarrier is
// the private expedited command; expedited and grace wait for RCU with MEMBARRIER_CMD_GLOBAL, the
// former with /sys/kernel/rcu_expedited set.
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 128  // CPUs
#define ROUNDS 21
#define HOLD 20  // us: longer than a waiting thread takes to fall asleep
static volatile int up, word[2 * 64];
static long nearest, stride;

static void pin(long cpu) {
  cpu_set_t at;
  CPU_ZERO(&at);
  CPU_SET(cpu, &at);
  sched_setaffinity(0, sizeof at, &at);
}

static double now(void) {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void futex(volatile int* at, int what, int value) {
  syscall(SYS_futex, at, what, value, NULL, NULL, 0);
}

static void await(volatile int* at, int value) {
  int seen;
  while ((seen = *at) != value) futex(at, FUTEX_WAIT_PRIVATE, seen);
}

static void* spin(void* cpu) {
  pin((long)cpu);
  __atomic_add_fetch(&up, 1, __ATOMIC_SEQ_CST);
  for (;;) {
  }
  return NULL;
}

static void* answer(void* cpu) {
  pin((long)cpu);
  __atomic_add_fetch(&up, 1, __ATOMIC_SEQ_CST);
  for (int round = 1;; round++) {
    await(&word[0], round);
    word[64] = round;
    futex(&word[64], FUTEX_WAKE_PRIVATE, 1);
  }
  return NULL;
}

static void* sleeper(void* cpu) {
  pin((long)cpu);
  __atomic_add_fetch(&up, 1, __ATOMIC_SEQ_CST);
  for (int round = 1;; round++) await(&word[0], round);
  return NULL;
}

// The lock of Drepper, Futexes Are Tricky: 0 free, 1 held, 2 held and maybe with waiters.
static struct {
  volatile int state;
  char padding[252];
  volatile long holder, handed;
  volatile double released, all;
} lock;

static void* contend(void* cpu) {
  pin((long)cpu);
  __atomic_add_fetch(&up, 1, __ATOMIC_SEQ_CST);
  for (;;) {
    int seen = 0;
    if (!__atomic_compare_exchange_n(&lock.state, &seen, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      while (__atomic_exchange_n(&lock.state, 2, __ATOMIC_SEQ_CST))
        futex(&lock.state, FUTEX_WAIT_PRIVATE, 2);
    lock.all += now() - lock.released, lock.handed++;
    lock.holder = (long)cpu;
    for (double since = now(); now() < since + HOLD;) {
    }
    lock.released = now();
    if (__atomic_exchange_n(&lock.state, 0, __ATOMIC_SEQ_CST) == 2)
      futex(&lock.state, FUTEX_WAKE_PRIVATE, 1);
    while (lock.holder == (long)cpu) {
    }
  }
  return NULL;
}

static void start(void* (*what)(void*), long first, long count) {
  for (long i = 0; i < count; i++)
    pthread_create(&(pthread_t){0}, NULL, what, (void*)(first + i * stride));
  while (up < count) usleep(50);
  usleep(300);
}

static double of_munmap(int round) {
  (void)round;
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *page = 1;
  double from = now();
  munmap(page, 4096);
  return now() - from;
}

static double of_protect(int round) {
  static char* page;
  if (!page) page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  *page = (char)round;
  double from = now();
  mprotect(page, 4096, PROT_READ);
  return now() - from;
}

static double of_membarrier(int round) {
  static int registered;
  if (!registered++) syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  (void)round;
  double from = now();
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  return now() - from;
}

static double of_grace(int round) {
  (void)round;
  double from = now();
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  return now() - from;
}

static double of_futex(int round) {
  double from = now();
  word[0] = round;
  futex(&word[0], FUTEX_WAKE_PRIVATE, 1);
  await(&word[64], round);
  return (now() - from) / 2;
}

static double of_sleepers(int round) {
  usleep(200);
  double from = now();
  word[0] = round;
  futex(&word[0], FUTEX_WAKE_PRIVATE, INT_MAX);
  return now() - from;
}

static void expedite(const char* value) {
  FILE* file = fopen("/sys/kernel/rcu_expedited", "w");
  if (file) fputs(value, file), fclose(file);
}

static double of_mutex(int round) {
  (void)round;
  double before = lock.all;
  long handed = lock.handed;
  while (lock.handed < handed + 10) usleep(50);
  return (lock.all - before) / (lock.handed - handed);
}

static long chosen(const char* name) {
  const char* text = getenv(name);
  return text ? atol(text) : 1;
}

static int by_time(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void point(const char* what, long number) {
  double (*once)(int) = of_munmap;
  int rounds = ROUNDS;
  pin(0);
  if (!strcmp(what, "far"))
    start(spin, number, 1);
  else if (!strcmp(what, "futex"))
    once = of_futex, start(answer, number, 1);
  else if (!strcmp(what, "sleepers"))
    once = of_sleepers, start(sleeper, nearest, number);
  else if (!strcmp(what, "mutex"))
    once = of_mutex, start(contend, nearest, number);
  else
    start(spin, nearest, number);
  if (!strcmp(what, "protect")) once = of_protect;
  if (!strcmp(what, "membarrier")) once = of_membarrier;
  if (!strcmp(what, "expedited")) once = of_grace, expedite("1");
  if (!strcmp(what, "grace")) once = of_grace, rounds = 3;
  once(1);
  double took[ROUNDS];
  for (int round = 0; round < rounds; round++) took[round] = once(round + 2);
  expedite("0");
  qsort(took, (size_t)rounds, sizeof *took, by_time);
  printf("%s %ld %.2f us\n", what, number, took[rounds / 2]);
  fflush(stdout);
  _exit(0);
}

// Returns 0 for an unknown experiment, or for a number with which it would never end.
static int is_point(const char* what, long number) {
  static const char* const known[] = {"munmap", "protect", "membarrier", "expedited", "grace",
                                      "far",    "futex",   "sleepers",   "mutex"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(what, known[i])) return number >= (strcmp(what, "mutex") ? 0 : 2) && number < MOST;
  return 0;
}

static int usage(const char* what, const char* number) {
  fprintf(stderr,
          "paths: found '%s %s', expected munmap, protect, membarrier, expedited, grace, far, "
          "futex or sleepers and numbers from 0 to %d, or mutex and numbers from 2\n",
          what, number, MOST - 1);
  return 2;
}

int main(int argc, char** argv) {
  if (argc < 3) return usage(argc > 1 ? argv[1] : "", "");
  for (int i = 2; i < argc; i++)
    if (!is_point(argv[1], atol(argv[i]))) return usage(argv[1], argv[i]);
  nearest = chosen("FIRST"), stride = chosen("STRIDE");
  for (int i = 2; i < argc; i++) {
    if (!fork()) point(argv[1], atol(argv[i]));
    wait(NULL);
  }
  return 0;
}
