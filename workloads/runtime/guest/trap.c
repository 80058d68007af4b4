// Interrupts and exceptions. The interrupts are the IPI (machine software interrupt) and, if a
// program sets a time limit, the timer. The only exception expected is the breakpoint of a
// semihosting call on a machine without semihosting.
#include "../runtime.h"

#define CAUSE_INTERRUPT (1ul << 63)
#define CAUSE_IPI (CAUSE_INTERRUPT | 3)
#define CAUSE_TIMER (CAUSE_INTERRUPT | 7)
#define CAUSE_BREAKPOINT 3

static volatile uint32_t* msip(unsigned hart) {
  return (volatile uint32_t*)(UC_CLINT_BASE + 4ul * hart);
}

static void take_ipi(void) {
  struct uc_hart* self = uc_hart();
  *msip(uc_id()) = 0;  // first, so that a later IPI becomes pending again
  self->ipis_taken = self->ipis_taken + 1;
  if (self->on_ipi) self->on_ipi();
}

// mtime may differ from the clock of uc_now(), so the timer is set again until the limit is over.
static void set_timer(void) {
  volatile uint64_t* mtimecmp = (volatile uint64_t*)(UC_CLINT_BASE + UC_CLINT_MTIMECMP) + uc_id();
  uint64_t mtime = *(volatile uint64_t*)(UC_CLINT_BASE + UC_CLINT_MTIME);
  uint64_t left = uc_hart()->patience_ends - uc_now();
  *mtimecmp = mtime + left * uc_boot.timebase_hz / 1000000000 + 1;
}

static void take_timer(void) {
  if ((int64_t)(uc_hart()->patience_ends - uc_now()) > 0) {
    set_timer();
    return;
  }
  uc_failed("the program has not ended within its patience");
  uc_report_failures(uc_hart_count());
  uc_exit(UC_EXIT_CHECK_FAILED);
}

void uc_patience(uint64_t ns) {
  uc_hart()->patience_ends = uc_now() + ns;
  set_timer();
  __asm__ volatile("csrs mie, %0" ::"r"(1ul << 7));  // MTIE
}

void uc_accept_ipis(bool on) {
  if (on)
    __asm__ volatile("csrs mie, %0" ::"r"(1ul << 3));  // MSIE
  else
    __asm__ volatile("csrc mie, %0" ::"r"(1ul << 3));
}

static _Noreturn void die(uint64_t cause, uint64_t pc) {
  uint64_t value;
  __asm__ volatile("csrr %0, mtval" : "=r"(value));
  uc_put("uc: trap hart=");
  uc_put_number(uc_id());
  uc_put(" mcause=");
  uc_put_hex(cause);
  uc_put(" mepc=");
  uc_put_hex(pc);
  uc_put(" mtval=");
  uc_put_hex(value);
  uc_put("\n");
  uc_exit(UC_EXIT_TRAPPED);
}

__attribute__((interrupt("machine"), aligned(4))) void uc_trap(void) {
  uint64_t cause, pc;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
  if (__builtin_expect(cause == CAUSE_IPI, 1)) {
    take_ipi();
    return;
  }
  if (cause == CAUSE_TIMER) {
    take_timer();
    return;
  }
  __asm__ volatile("csrr %0, mepc" : "=r"(pc));
  if (cause != CAUSE_BREAKPOINT) die(cause, pc);
  uc_hart()->no_semihosting = true;
  __asm__ volatile("csrw mepc, %0" ::"r"(pc + 4));
}

void uc_ipi(unsigned hart) {
  __asm__ volatile("fence w, o" ::: "memory");
  *msip(hart) = 1;
}

// Returns a word with the lowest `count` bits set.
static uint64_t below(int64_t count) {
  return count <= 0 ? 0 : count < 64 ? (1ul << count) - 1 : ~0ul;
}

// Interrupts the harts of a set from `begin` up to, but not including, `end`. Each hart has its own
// set registers, so only the last store is a message.
static void ipi_group(const uint64_t set[], unsigned begin, unsigned end) {
  volatile uint64_t* words = (volatile uint64_t*)UC_MULTICAST_BASE;
  uint64_t any = 0;
  for (unsigned word = begin / 64; 64 * word < end; word++) {
    int64_t first = 64l * word;
    uint64_t harts = set[word] & below(end - first) & ~below(begin - first);
    words[word] = harts;
    any |= harts;
  }
  if (any) *(volatile uint64_t*)(UC_MULTICAST_BASE + UC_MULTICAST_SEND) = 1;
}

void uc_ipi_many(const uint64_t set[], unsigned n) {
  __asm__ volatile("fence w, o" ::: "memory");
  if (!uc_boot.multicast) {
    for (unsigned hart = 0; hart < n; hart++)
      if (set[hart / 64] >> hart % 64 & 1) *msip(hart) = 1;
    return;
  }
  unsigned group = (unsigned)uc_boot.multicast;
  for (unsigned begin = 0; begin < n; begin += group)
    ipi_group(set, begin, begin + group < n ? begin + group : n);
}
