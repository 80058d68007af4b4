// A program whose threads count primes: each sieves one block of numbers after another on its
// stack.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8192, BLOCKS = 4096, MAX_THREADS = 256, ROOT = 5793 };  // ROOT^2 >= BLOCK * BLOCKS

_Alignas(64) static atomic_uint_fast64_t next_block;
_Alignas(64) static atomic_uint_fast64_t found;
_Alignas(64) static int small_primes_count;
static uint64_t small_primes[1000];

static uint64_t sieve(uint64_t first, unsigned char* composite) {
  memset(composite, 0, BLOCK);
  for (int i = 0; i < small_primes_count; ++i) {
    uint64_t p = small_primes[i], at = (first + p - 1) / p * p;
    for (at = at < p * p ? p * p : at; at < first + BLOCK; at += p) composite[at - first] = 1;
  }
  uint64_t primes = 0;
  for (int i = 0; i < BLOCK; ++i) primes += !composite[i];
  return primes - (first == 0 ? 2 : 0);
}

static void* work(void* unused) {
  unsigned char composite[BLOCK];
  uint64_t block;
  while ((block = atomic_fetch_add(&next_block, 1)) < BLOCKS)
    atomic_fetch_add(&found, sieve(block * BLOCK, composite));
  return unused;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t handles[MAX_THREADS];
  for (uint64_t n = 2; n < ROOT; ++n) {
    int i = 0;
    while (i < small_primes_count && small_primes[i] * small_primes[i] <= n && n % small_primes[i])
      ++i;
    if (i == small_primes_count || small_primes[i] * small_primes[i] > n)
      small_primes[small_primes_count++] = n;
  }
  for (int i = 0; i < threads; ++i) pthread_create(&handles[i], NULL, work, NULL);
  for (int i = 0; i < threads; ++i) pthread_join(handles[i], NULL);
  printf("%llu\n", (unsigned long long)found);
  return found != 2063689;  // primes below 2^25
}
