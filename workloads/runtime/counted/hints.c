// Counts the marks of uncore_hints.h in a program compiled for this computer; `uncore run --host`
// links this file to it. At exit it writes to the pipe UNCORE_TOLD the time since the start of the
// program and, for each thread with operations, their number, begin and end; times are in ns.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 128  // characters in a line

struct thread {
  struct thread* next;
  unsigned long operations;
  uint64_t began, ended;
};

_Thread_local unsigned long* uncore_operations;

static _Thread_local struct thread* self;
static _Atomic(struct thread*) threads;
static uint64_t started;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// A thread's record is never freed, so that ended threads are printed at the end too.
void uncore_thread_begins(void) {
  if (self) return;
  self = calloc(1, sizeof *self);
  if (!self) abort();
  uncore_operations = &self->operations;
  self->next = atomic_load(&threads);
  while (!atomic_compare_exchange_weak(&threads, &self->next, self));
  self->began = now();
}

void uncore_thread_ends(void) {
  if (self) self->ended = now();
}

__attribute__((constructor)) static void start(void) { started = now(); }

__attribute__((destructor)) static void tell(void) {
  const uint64_t end = now();
  const char* const pipe_number = getenv("UNCORE_TOLD");
  if (!pipe_number) return;
  char line[LONGEST];
  int size = snprintf(line, sizeof line, "%lu\n", (unsigned long)(end - started));
  if (write(atoi(pipe_number), line, (size_t)size) != size) return;
  for (struct thread* t = atomic_load(&threads); t; t = t->next) {
    if (!t->operations) continue;
    size = snprintf(line, sizeof line, "%lu %lu %lu\n", t->operations, (unsigned long)t->began,
                    (unsigned long)(t->ended ? t->ended : end));
    if (write(atoi(pipe_number), line, (size_t)size) != size) return;
  }
}
