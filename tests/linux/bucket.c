// All threads repeatedly take the lock of the same futex bucket: each call finds that the word has
// another value than expected, and returns at once.
#include "raw.h"

enum { EAGAIN = 11, WAIT_PRIVATE = 128, CALLS = 40 };

static struct thread threads[16];
static u32 word, not_started;

static long call_futex(long number) {
  (void)number;
  __atomic_fetch_sub(&not_started, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&not_started, __ATOMIC_ACQUIRE)) continue;
  for (int i = 0; i < CALLS; ++i)
    if (call(N_futex, &word, WAIT_PRIVATE, 1, 0) != -EAGAIN) fail(1);
  return 0;
}

int run(int count, char** words) {
  const long n = count > 1 ? words[1][0] - '0' : 1;
  not_started = (u32)n;
  for (long i = 1; i < n; ++i) start(&threads[i], call_futex, i);
  call_futex(0);
  for (long i = 1; i < n; ++i) join(&threads[i]);
  return 0;
}
