// Guests that fail in different ways, for tests of the engine's messages.
//
// The last hart fails; the others wait at the end of the program.
#include "uncore.h"

UC_WORKLOAD("Goes wrong");
enum what {
  ILLEGAL,
  OUTSIDE,
  DEVICE,
  MISALIGNED,
  ASTRAY,
  UNHANDLED,
  DEADLOCK,
  ATOMIC,
  COMPUTE,
  CLOCK,
  DELAY,
  RECURSE,
  LIVELOCK,
  RACE,
  EVERYBODY,
  CHECK
};
UC_PARAM(choice, what, ILLEGAL,
         "illegal|outside|device|misaligned|astray|unhandled|deadlock|atomic|compute|clock|delay|"
         "recurse|livelock|race|everybody|check",
         "how");

static struct {
  UC_ALIGNED volatile uint64_t never;
  _Atomic uint64_t hot;
} shared;

static void illegal(void) { __asm__ volatile(".word 0xffffffff"); }
static void outside(void) { *(volatile uint64_t*)0xfffffffffff0 = 1; }
static void device(void) { (void)*(volatile uint32_t*)0x40000000; }
static void misaligned(void) {
  __asm__ volatile("amoadd.d zero, zero, (%0)" : : "r"((uintptr_t)&shared + 4) : "memory");
}
static void astray(void) { ((void (*)(void))0x1000)(); }

// Executes an illegal instruction while there is no trap handler.
static void unhandled(void) {
  __asm__ volatile("csrw mtvec, zero");
  illegal();
}

static void deadlock(void) {
  while (!shared.never) uc_pause();
}

static void atomic(void) {
  while (atomic_fetch_add(&shared.hot, 1) != UINT64_MAX) uc_pause();
}

static void compute(void) {
  for (volatile uint64_t i = 1; i; i++) continue;
}

static void clock(void) {
  while (uc_now()) uc_pause();
}

// Gives the engine's delay marker a negative time.
static void delay(void) {
  uint64_t before = uc_now();
  UC_MARK(UC_MARK_DELAY, -1000ul);
  uc_check(uc_now() > before, "the clock went back");
}

static uint64_t depth(uint64_t n) {
  volatile uint64_t frame[4] = {n};
  return n ? depth(n + 1) + frame[0] : 0;
}

static void recurse(void) { depth(1); }

// From LR to SC it takes longer than the line is protected (rule C6.2), so another hart's LR takes
// the line, and that hart is too slow in the same way. The first SC fails before the operation, so
// it does not count.
static void livelock(void) {
  uint64_t failed, other;
  __asm__ volatile("sc.d %0, zero, (%1)" : "=&r"(failed) : "r"(&other) : "memory");
  uc_op();
  do
    __asm__ volatile("lr.d t0, (%1)\n\t.rept 600\n\tnop\n\t.endr\n\tsc.d %0, t0, (%1)"
                     : "=&r"(failed)
                     : "r"(&shared.hot)
                     : "t0", "memory");
  while (failed);
}

// Makes every hart end the run. The last hart is first; each other one is a few instructions later.
static void race(unsigned id, unsigned n) {
  const uint64_t common = 200000;
  uint64_t now = uc_now();
  __asm__ volatile("csrw mtvec, zero");
  UC_MARK(UC_MARK_DELAY, common - now);
  uc_work(4 * (n - id));
  illegal();
}

void uc_main(unsigned id, unsigned n) {
  if (what == RACE) race(id, n);
  if (what == EVERYBODY) outside();
  if (id != n - 1) {
    if (what == ATOMIC) atomic();
    if (what == LIVELOCK) livelock();
    return;
  }
  static void (*const ways[])(void) = {illegal,   outside,  device,  misaligned, astray,
                                       unhandled, deadlock, atomic,  compute,    clock,
                                       delay,     recurse,  livelock};
  if (what == CHECK)
    uc_check(false, "asked to fail");
  else
    ways[what]();
}
