// A program whose threads draw numbers and count them in a table, each part of which has a mutex.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 16, DRAWS = 200, MAX_THREADS = 256 };

static struct {
  _Alignas(64) pthread_mutex_t mutex;
  uint64_t count;
} table[PARTS];

static void* work(void* number) {
  uint64_t state = (uintptr_t)number + 1;
  for (int i = 0; i < DRAWS; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    unsigned part = state >> 60;
    pthread_mutex_lock(&table[part].mutex);
    ++table[part].count;
    pthread_mutex_unlock(&table[part].mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t handles[MAX_THREADS];
  uint64_t sum = 0;
  for (int i = 0; i < PARTS; ++i) pthread_mutex_init(&table[i].mutex, NULL);
  for (int i = 0; i < threads; ++i) pthread_create(&handles[i], NULL, work, (void*)(uintptr_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(handles[i], NULL);
  for (int i = 0; i < PARTS; ++i) sum += table[i].count;
  printf("%llu\n", (unsigned long long)sum);
  return sum != (uint64_t)threads * DRAWS;
}
