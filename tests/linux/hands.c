// One thread passes values to another, ordered by fences, by system calls, or by nothing.
#include "raw.h"

enum { VALUES = 30, GETTID = 178, EAGAIN = 11 };
static struct {
  _Alignas(256) int value;
  _Alignas(256) int ready;
} slots[VALUES];
static int fences, calls;
static struct thread sender;

static long send_values(long unused) {
  for (int i = 0; i < VALUES; ++i) {
    slots[i].value = i + 1;
    if (fences) __atomic_thread_fence(__ATOMIC_RELEASE);
    if (calls) call(GETTID);
    __atomic_store_n(&slots[i].ready, 1, __ATOMIC_RELAXED);
    if (calls) call(N_futex, &slots[i].ready, 1, 1, 0);
  }
  return unused;
}
// Only the kernel reads `ready`, so only the system call orders the accesses.
static void sleep_until(int* ready) { while (call(N_futex, ready, 0, 0, 0) != -EAGAIN); }

int run(int count, char** words) {
  const char* const how = count > 1 ? words[1] : "";
  fences = same(how, "fences"), calls = same(how, "calls");
  int num_stale = 0;
  start(&sender, send_values, 0);
  for (int i = 0; i < VALUES; ++i) {
    if (calls)
      sleep_until(&slots[i].ready);
    else
      while (!__atomic_load_n(&slots[i].ready, __ATOMIC_RELAXED));
    if (fences) __atomic_thread_fence(__ATOMIC_ACQUIRE);
    num_stale += slots[i].value != i + 1;
  }
  join(&sender);
  return num_stale != 0;
}
