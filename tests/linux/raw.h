// System calls without a C library, for programs of which every instruction is their own.
#pragma once

typedef unsigned long u64;
typedef unsigned int u32;

enum {
  N_eventfd2 = 19, N_dup = 23, N_dup3 = 24, N_fcntl = 25, N_openat = 56, N_close = 57,
  N_getdents64 = 61, N_lseek = 62, N_read = 63, N_write = 64, N_ppoll = 73, N_exit = 93,
  N_exit_group = 94, N_futex = 98, N_nanosleep = 101, N_getitimer = 102, N_setitimer = 103,
  N_clock_gettime = 113, N_sched_setaffinity = 122, N_sched_getaffinity = 123,
  N_sched_yield = 124, N_kill = 129, N_tgkill = 131, N_rt_sigaction = 134, N_rt_sigprocmask = 135,
  N_rt_sigtimedwait = 137, N_rt_sigreturn = 139, N_uname = 160, N_getcpu = 168, N_getpid = 172, N_gettid = 178,
  N_brk = 214, N_munmap = 215, N_clone = 220, N_mmap = 222, N_mprotect = 226, N_madvise = 233,
  N_prlimit64 = 261, N_getrandom = 278, N_membarrier = 283, N_rseq = 293,
};

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
#define CALL_(n, a, b, c, d, e, f, ...)                                               \
  call6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define call(...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

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

// A thread on a stack of its own; `done` is its tid until it has ended.
struct thread {
  u32 done;
  long (*run)(long);
  long argument;
  _Alignas(16) char stack[4096];
};
long start_thread(u64 flags, void* stack, u32* tid, struct thread* t);
__asm__(
    ".globl start_thread\nstart_thread:\n"
    "  mv a4, a2\n  mv a5, a3\n  li a2, 0\n  li a3, 0\n  li a7, 220\n  ecall\n"
    "  bnez a0, 1f\n"
    "  ld t0, 8(a5)\n  ld a0, 16(a5)\n  jalr t0\n  li a7, 93\n  ecall\n"
    "1: ret\n");
static inline void start(struct thread* t, long (*run)(long), long argument) {
  const u64 flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000;
  t->done = 1, t->run = run, t->argument = argument;
  start_thread(flags, t->stack + sizeof t->stack, &t->done, t);
}
static inline void join(struct thread* t) {
  for (u32 tid; (tid = __atomic_load_n(&t->done, __ATOMIC_ACQUIRE));)
    call(N_futex, &t->done, 0, tid, 0);
}

int run(int count, char** words);
__asm__(".globl _start\n_start:\n  ld a0, 0(sp)\n  addi a1, sp, 8\n  andi sp, sp, -16\n"
        "  call run\n  li a7, 94\n  ecall\n");
