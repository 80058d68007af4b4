// Threads pay into accounts that a library's lock guards. The library is not the user's source, and
// has neither frame pointers nor unwind information.
#include "raw.h"

enum { ACCOUNTS = 2, DEPOSITS = 40 };
struct account {
  u32 lock;
  long balance;
};
static struct thread threads[8];
static struct account* accounts;
static u64 total;  // address of the sum; an integer, so no pointer leads to it
static const long rates[] = {3, 5};

#define LIBRARY __attribute__((noinline))

#line 1 "/usr/src/library/lock.c"
LIBRARY void* malloc(u64 size) {
  return (void*)call(N_mmap, 0, size, 3, 0x22, -1, 0);
}
LIBRARY static long rest(u32* lock) { return call(N_futex, lock, 0, 2, 0); }
LIBRARY void library_lock(u32* lock) {
  if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) return;
  while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE)) rest(lock);
}
LIBRARY void library_unlock(u32* lock) {
  if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2) call(N_futex, lock, 1, 1);
}

#line 101 "/home/me/bank.c"
__attribute__((noinline)) void deposit(struct account* to, long value) {
  library_lock(&to->lock);
  to->balance += value;
  __atomic_fetch_add((long*)total, value, __ATOMIC_RELAXED);
  library_unlock(&to->lock);
}

__attribute__((noinline)) long teller(long self) {
  for (long i = 0; i < DEPOSITS; ++i) deposit(&accounts[(self + i) % ACCOUNTS], rates[i % 2]);
  return 0;
}

int run(int count, char** words) {
  const long many = count > 1 ? words[1][0] - '0' : 2;
  accounts = malloc(ACCOUNTS * sizeof *accounts);
  total = (u64)malloc(sizeof(long));
  accounts[0].balance = accounts[1].balance = 0;
  for (long i = 0; i < many; ++i) start(&threads[i], teller, i);
  for (long i = 0; i < many; ++i) join(&threads[i]);
  return accounts[0].balance + accounts[1].balance != many * DEPOSITS * 4;
}
