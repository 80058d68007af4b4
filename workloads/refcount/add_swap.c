// A count incremented by addition and decremented by compare-and-swap: glibc's rwlock readers.
//
// Since glibc 2.25 a reader adds itself to the lock's word, which always succeeds, and leaves by a
// compare-and-swap, because it must see whether a writer waits for the last reader. Both functions
// first look whether the caller itself is the writer, in a word of the same line. Even without
// writers each reader writes the line twice, and every reader that arrives makes the
// compare-and-swap of the others fail.
#include "get_put.h"

UC_WORKLOAD("Reference count raised by adding, lowered by compare-and-swap: glibc's readers");

static bool is_writer(const struct count* count) {
  return atomic_load_explicit(&count->writer, memory_order_relaxed) == uc_id() + 1;
}

static __attribute__((noinline)) uint32_t count_get(struct count* count) {
  uc_check(!is_writer(count), "the caller has the lock as a writer");
  return atomic_fetch_add_explicit(&count->references, 1, memory_order_acquire) + 1;
}

static __attribute__((noinline)) void count_put(struct count* count) {
  uc_check(!is_writer(count), "the caller has the lock as a writer");
  uint32_t seen = atomic_load_explicit(&count->references, memory_order_relaxed);
  while (!atomic_compare_exchange_strong_explicit(&count->references, &seen, seen - 1,
                                                  memory_order_release, memory_order_relaxed)) {
  }
}
