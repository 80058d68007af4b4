// System calls without a C library, for programs that contain no other code than their own.
#pragma once
#line 4 "/usr/include/raw.h"  // so that this header counts as a library

typedef unsigned long u64;
typedef unsigned int u32;

#ifdef __riscv
#define NUMBER(number, name) number
#else
#include "host_calls.h"
#endif
enum {
#define CALL(number, name) N_##name = NUMBER(number, name),
#define PROGRESS CALL
#include "../../sim/native/os/calls.def"
#undef CALL
#undef PROGRESS
};

#ifdef __riscv
static inline long call6(long n, long a, long b, long c, long d, long e, long f) {
  register long a7 __asm__("a7") = n, a0 __asm__("a0") = a, a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c, a3 __asm__("a3") = d, a4 __asm__("a4") = e;
  register long a5 __asm__("a5") = f;
  __asm__ volatile("ecall"
                   : "+r"(a0)
                   : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                   : "memory");
  return a0;
}
#endif
#define CALL_(n, a, b, c, d, e, f, ...)                                               \
  call6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define call(...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

// Functions that the compiler may call even if the source does not.
__attribute__((weak)) void* memset(void* to, int value, u64 size) {
  for (volatile char* at = to; size--; ++at) *at = (char)value;
  return to;
}
__attribute__((weak)) void* memcpy(void* to, const void* from, u64 size) {
  for (u64 i = 0; i < size; ++i) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}

static inline u64 length(const char* s) {
  u64 n = 0;
  while (s[n]) ++n;
  return n;
}
static inline int same(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}
static inline void say(const char* s) { call(N_write, 1, s, length(s)); }
static inline void say_number(long v) {
  char text[24], *at = text + 23;
  const int negative = v < 0;
  u64 rest = negative ? -(u64)v : (u64)v;
  *at = 0;
  do *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (negative) *--at = '-';
  say(at);
  say("\n");
}
static inline void fail(int why) { call(N_exit_group, why); }

// A thread with its own stack. `done` becomes 0 when the thread has ended.
struct thread {
  u32 done;
  long (*run)(long);
  long argument;
  _Alignas(16) char stack[4096];
};
long start_thread(u64 flags, void* stack, u32* tid, struct thread* t);
#ifdef __riscv
__asm__(
    ".globl start_thread\nstart_thread:\n"
    "  mv a4, a2\n  mv a5, a3\n  li a2, 0\n  li a3, 0\n  li a7, 220\n  ecall\n"
    "  bnez a0, 1f\n"
    "  ld t0, 8(a5)\n  ld a0, 16(a5)\n  jalr t0\n  li a7, 93\n  ecall\n"
    "1: ret\n");
#endif
static inline void start(struct thread* t, long (*run)(long), long argument) {
  const u64 flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000;
  t->done = 1, t->run = run, t->argument = argument;
  start_thread(flags, t->stack + sizeof t->stack, &t->done, t);
}
static inline void join(struct thread* t) {
  for (u32 tid; (tid = __atomic_load_n(&t->done, __ATOMIC_ACQUIRE));)
    call(N_futex, &t->done, 0, tid, 0);
}

static inline u64 now(void) {  // ns
  u64 time[2];
  call(N_clock_gettime, 1, time);
  return time[0] * 1000000000 + time[1];
}
static inline void pause_for(u64 ns) {
  const u64 time[2] = {0, ns};
  call(N_nanosleep, time, 0);
}

// True if the counter reaches `count` and stays there. On a busy host that may take some time.
static inline int stays_at(const volatile u32* counter, u32 count) {
  for (int tries = 0; *counter < count && tries < 5000; ++tries) pause_for(200000);
  pause_for(200000);
  return *counter == count;
}

int run(int count, char** words);
#ifdef __riscv
__asm__(".globl _start\n_start:\n  ld a0, 0(sp)\n  addi a1, sp, 8\n  andi sp, sp, -16\n"
        "  call run\n  li a7, 94\n  ecall\n");
#endif
