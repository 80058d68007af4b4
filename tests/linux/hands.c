// One thread hands values to another: by fences, by system calls, or by nothing that orders them.
#include "raw.h"

enum { VALUES = 30, GETTID = 178, EAGAIN = 11 };
static struct {
  _Alignas(256) int value;
  _Alignas(256) int ready;
} hands[VALUES];
static int fences, calls;
static struct thread giver;

static long gives(long unused) {
  for (int i = 0; i < VALUES; ++i) {
    hands[i].value = i + 1;
    if (fences) __atomic_thread_fence(__ATOMIC_RELEASE);
    if (calls) call(GETTID);
    __atomic_store_n(&hands[i].ready, 1, __ATOMIC_RELAXED);
    if (calls) call(N_futex, &hands[i].ready, 1, 1, 0);
  }
  return unused;
}
// Asks the kernel alone whether the value is ready.
static void sleeps_until(int* ready) { while (call(N_futex, ready, 0, 0, 0) != -EAGAIN); }

int run(int count, char** words) {
  const char* const how = count > 1 ? words[1] : "";
  fences = same(how, "fences"), calls = same(how, "calls");
  int old = 0;
  start(&giver, gives, 0);
  for (int i = 0; i < VALUES; ++i) {
    if (calls)
      sleeps_until(&hands[i].ready);
    else
      while (!__atomic_load_n(&hands[i].ready, __ATOMIC_RELAXED));
    if (fences) __atomic_thread_fence(__ATOMIC_ACQUIRE);
    old += hands[i].value != i + 1;
  }
  join(&giver);
  return old != 0;
}
