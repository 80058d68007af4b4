// Runs will-it-scale's tests in a simulated kernel, for a short time because it is expensive.
//
//     TEST [-t] TASKS...    prints the operations per second of TASKS processes (-t: threads),
//                           each of which runs testcase()
//
// It is linked with one of will-it-scale's tests/*.c. Task i is pinned to CPU i. Counting begins
// half a millisecond after the last task has counted once, and lasts MS (environment; default 1)
// milliseconds. `uncore willitscale` reads its lines TEST process|thread TASKS RATE.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 128

void testcase(unsigned long long* iterations, unsigned long nr);
void __attribute__((weak)) testcase_prepare(unsigned long tasks) { (void)tasks; }
void __attribute__((weak)) testcase_cleanup(void) {}

struct task {
  volatile unsigned long long done;
  char padding[248];
};
static struct task* tasks;
static pid_t children[MOST];
static volatile int* begun;  // set when all tasks exist, so that none runs while others start

static void sleep_us(long us) { nanosleep(&(struct timespec){0, us * 1000}, NULL); }

static double now(void) {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void* work(void* number) {
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET((long)number, &cpu);
  sched_setaffinity(0, sizeof cpu, &cpu);
  while (!*begun) sleep_us(50);
  testcase((unsigned long long*)&tasks[(long)number].done, (unsigned long)number);
  return NULL;
}

static unsigned long long sum(int count) {
  unsigned long long all = 0;
  for (int i = 0; i < count; i++) all += tasks[i].done;
  return all;
}

static void end(int count) {
  for (int i = 0; i < count; i++) kill(children[i], SIGKILL);
  for (int i = 0; i < count; i++) waitpid(children[i], NULL, 0);
}

// Waits until a task has counted once. A task may also end before, for example without a /tmp.
static void await(const char* name, int number, int count) {
  while (!tasks[number].done) {
    if (waitpid(-1, NULL, WNOHANG) > 0) {
      fprintf(stderr, "%s: a task ended before it had counted once\n", name);
      end(count);
      _exit(1);
    }
    sleep_us(50);
  }
}

static double measure(const char* name, int count) {
  const char* ms = getenv("MS");
  for (int i = 0; i < count; i++) await(name, i, count);
  sleep_us(500);
  double from = now();
  unsigned long long before = sum(count);
  sleep_us(ms ? 1000 * atol(ms) : 1000);
  double to = now();
  return (sum(count) - before) / (to - from);
}

// Measures one number of tasks, in a new process, which ends together with all its tasks.
static void point(const char* name, int threads, int count) {
  tasks = mmap(NULL, (MOST + 1) * sizeof *tasks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
               -1, 0);
  begun = (volatile int*)(tasks + MOST);
  testcase_prepare(count);
  // This process preempts a task as soon as its own sleep is over, because tasks are SCHED_OTHER.
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &(struct sched_param){1});
  for (long i = 0; i < count; i++) {
    pthread_t thread;
    if (threads)
      pthread_create(&thread, NULL, work, (void*)i);
    else if (!(children[i] = fork()))
      work((void*)i);
  }
  *begun = 1;
  printf("%s %s %d %.0f\n", name, threads ? "thread" : "process", count, measure(name, count));
  fflush(stdout);
  if (threads) _exit(0);  // without a cleanup, because threads still use the test's data
  end(count);
  testcase_cleanup();
  _exit(0);
}

int main(int argc, char** argv) {
  char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
  int threads = argc > 1 && !strcmp(argv[1], "-t");
  int status = 0, failed = 0;
  for (int i = 1 + threads; i < argc; i++) {
    int count = atoi(argv[i]);
    if (count < 1 || count > MOST) {
      fprintf(stderr, "%s: found '%s', expected a number of tasks from 1 to %d\n", name, argv[i],
              MOST);
      return 2;
    }
    pid_t child = fork();
    if (!child) point(name, threads, count);
    waitpid(child, &status, 0);
    failed |= status != 0;
  }
  return failed;
}
