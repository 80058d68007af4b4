// Stack frames of every kind that do not fit into a hart's stack. The program never touches their
// bytes near the end of the stack.
#include "thread.h"

enum { FIXED_17K, FIXED_64K, FIXED_256K, FIXED_1M, NESTED, ALLOCA, VLA, ALIGNED, THREAD };
UC_PARAM(choice, what, FIXED_17K,
         "fixed_17k|fixed_64k|fixed_256k|fixed_1m|nested|alloca|vla|aligned|thread", "which frame");
UC_PARAM(u64, bytes, 1 << 20, "", "of what the program itself measures out");

static struct {
  UC_ALIGNED uint64_t before[1 << 17];  // a stack overflow of hart 0 would write here
} globals;

// Writes one byte. The compiler cannot know which one, so it must keep the whole frame.
static void touch(volatile char* frame) { frame[bytes & 7] = 1; }

#define FIXED(name, size)                            \
  static __attribute__((noinline)) void name(void) { \
    volatile char frame[size];                       \
    touch(frame);                                    \
  }
FIXED(fixed_17k, 17 << 10)
FIXED(fixed_64k, 64 << 10)
FIXED(fixed_256k, 256 << 10)
FIXED(fixed_1m, 1 << 20)
FIXED(inner, 9 << 10)

static __attribute__((noinline)) void nested(void) {
  volatile char frame[9 << 10];
  touch(frame);
  inner();
  touch(frame);
}

static __attribute__((noinline)) void alloca_(void) { touch(__builtin_alloca(bytes)); }

static __attribute__((noinline)) void vla(void) {
  volatile char frame[bytes];
  touch(frame);
}

static __attribute__((noinline)) void aligned(void) {
  _Alignas(1 << 15) volatile char frame[64];
  touch(frame);
}

static void body(void* nothing) {
  (void)nothing;
  fixed_256k();
}

void uc_setup(unsigned n) {
  uc_sched_start(n, 0, false);
  if (what == THREAD) uc_thread_create(body, NULL, uc_cpuset_one(0));
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  globals.before[id] = id;
  static void (*const ways[])(void) = {fixed_17k, fixed_64k, fixed_256k, fixed_1m,    nested,
                                       alloca_,   vla,       aligned,    uc_sched_run};
  ways[what]();
  uc_check(globals.before[id] == id, "a frame has overwritten a global");
}
