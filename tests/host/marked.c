// Two threads mark a thousand operations each. An argument selects another behaviour.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <uncore_hints.h>

static void* work(void* nothing) {
  uncore_begin();
  for (int i = 0; i < 1000; ++i) uncore_op();
  uncore_end();
  return nothing;
}

int main(int many, char** words) {
  if (many > 1 && !strcmp(words[1], "abort")) abort();
  if (many > 1 && !strcmp(words[1], "status")) return atoi(words[2]);
  if (many > 1 && !strcmp(words[1], "places")) {
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("%d\n", CPU_COUNT(&cpus));
    return 0;
  }
  pthread_t other;
  pthread_create(&other, NULL, work, NULL);
  work(NULL);
  return pthread_join(other, NULL);
}
