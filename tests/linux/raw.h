// System calls without a C library, for programs of which every instruction is their own.
#pragma once
#line 4 "/usr/include/raw.h"  // a library, where a line of the user's is asked for

typedef unsigned long u64;
typedef unsigned int u32;

enum {
  N_getcwd = 17, N_eventfd2 = 19, N_epoll_create1 = 20, N_epoll_ctl = 21, N_epoll_pwait = 22,
  N_dup = 23, N_dup3 = 24, N_fcntl = 25, N_flock = 32, N_mkdirat = 34, N_unlinkat = 35,
  N_symlinkat = 36, N_linkat = 37, N_statfs = 43, N_fstatfs = 44, N_truncate = 45, N_ftruncate = 46, N_chdir = 49, N_openat = 56,
  N_close = 57, N_pipe2 = 59, N_getdents64 = 61, N_lseek = 62, N_read = 63, N_write = 64,
  N_pread64 = 67, N_pwrite64 = 68, N_pselect6 = 72, N_ppoll = 73, N_signalfd4 = 74,
  N_readlinkat = 78, N_newfstatat = 79, N_fstat = 80, N_timerfd_create = 85,
  N_timerfd_settime = 86, N_timerfd_gettime = 87, N_exit = 93, N_exit_group = 94, N_futex = 98,
  N_nanosleep = 101, N_getitimer = 102, N_setitimer = 103, N_clock_gettime = 113,
  N_sched_setscheduler = 119, N_sched_getscheduler = 120, N_sched_getparam = 121,
  N_sched_setaffinity = 122, N_sched_getaffinity = 123, N_sched_yield = 124,
  N_sched_get_priority_max = 125, N_kill = 129, N_tgkill = 131, N_rt_sigsuspend = 133,
  N_rt_sigaction = 134, N_rt_sigprocmask = 135, N_rt_sigpending = 136, N_rt_sigtimedwait = 137,
  N_rt_sigqueueinfo = 138, N_rt_sigreturn = 139, N_setpriority = 140, N_getpriority = 141,
  N_uname = 160, N_getcpu = 168, N_getpid = 172, N_gettid = 178, N_socket = 198,
  N_socketpair = 199, N_bind = 200, N_listen = 201, N_connect = 203, N_getsockname = 204,
  N_getpeername = 205, N_sendto = 206, N_recvfrom = 207, N_setsockopt = 208, N_getsockopt = 209, N_shutdown = 210,
  N_brk = 214, N_munmap = 215, N_mremap = 216, N_clone = 220, N_mmap = 222, N_mprotect = 226,
  N_msync = 227, N_madvise = 233, N_rt_tgsigqueueinfo = 240, N_accept4 = 242, N_riscv_hwprobe = 258, N_prlimit64 = 261,
  N_renameat2 = 276, N_getrandom = 278, N_memfd_create = 279, N_membarrier = 283, N_rseq = 293,
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

// Functions that a compiler calls of its own accord.
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

// A thread on a stack of its own; `done` is 1 until it has ended.
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

static inline u64 now(void) {  // ns
  u64 time[2];
  call(N_clock_gettime, 1, time);
  return time[0] * 1000000000 + time[1];
}
static inline void pause_for(u64 ns) {
  const u64 time[2] = {0, ns};
  call(N_nanosleep, time, 0);
}

// Does the counter come to `count`, and stay there? On a busy host it takes a while.
static inline int stays_at(const volatile u32* counter, u32 count) {
  for (int tries = 0; *counter < count && tries < 5000; ++tries) pause_for(200000);
  pause_for(200000);
  return *counter == count;
}

int run(int count, char** words);
__asm__(".globl _start\n_start:\n  ld a0, 0(sp)\n  addi a1, sp, 8\n  andi sp, sp, -16\n"
        "  call run\n  li a7, 94\n  ecall\n");
