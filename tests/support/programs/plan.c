// Each hart executes the steps of its plan at given times, and records when each step began and
// ended.
//
// A step is one word: time in ns after `start` << 16 | what << 8 | place; 0 is no step. The delay
// before the access is exact (rule H7), so a step begins at its planned time if the previous step
// has ended. The clock is read right before and right after the access: on a machine whose
// durations are whole nanoseconds, end - begin is the cost of the step plus that of two
// instructions.
#include "uncore.h"

UC_WORKLOAD("Accesses at given times, with the times they took");
#define STEPS 8
#define HARTS 4
#define PLAN(hart)                                                            \
  UC_PARAM(u64, plan_##hart##_0, 0, "step", "first step");                    \
  UC_PARAM(u64, plan_##hart##_1, 0, "step", "and so on");                     \
  UC_PARAM(u64, plan_##hart##_2, 0, "step", "");                              \
  UC_PARAM(u64, plan_##hart##_3, 0, "step", "");                              \
  UC_PARAM(u64, plan_##hart##_4, 0, "step", "");                              \
  UC_PARAM(u64, plan_##hart##_5, 0, "step", "");                              \
  UC_PARAM(u64, plan_##hart##_6, 0, "step", "");                              \
  UC_PARAM(u64, plan_##hart##_7, 0, "step", "");                              \
  static uint64_t* const steps_##hart[STEPS] = {                              \
      &plan_##hart##_0, &plan_##hart##_1, &plan_##hart##_2, &plan_##hart##_3, \
      &plan_##hart##_4, &plan_##hart##_5, &plan_##hart##_6, &plan_##hart##_7}
PLAN(0);
PLAN(1);
PLAN(2);
PLAN(3);
static uint64_t* const* const plans[HARTS] = {steps_0, steps_1, steps_2, steps_3};

UC_PARAM(u64, start, 100000, "ns", "time at which the plans begin; later than any start-up");
UC_PARAM(u64, stride, 64, "bytes", "from one place to the next");
UC_PARAM(u64, node, 0, "node", "memory node of the places");
UC_TABLE(began, "ns", "when each step of the hart began");
UC_TABLE(ended, "ns", "and ended");
UC_TABLE(taken, "ns", "when the hart took its last IPI");

#define PLACES 64
#define JUMP_TABLES 1024  // most bytes of the jump tables, which lie before `plans`
static char* places;

// Memory of the trap handler below, one line per hart. mscratch points to it.
static struct {
  UC_ALIGNED uint64_t saved;  // the handler uses the offsets 0, 8 and 16
  volatile uint64_t taken;
  volatile uint32_t* msip;
} scratch[HARTS];

// Handles an IPI and records the time, which its third instruction reads.
__attribute__((naked, aligned(4))) static void handler(void) {
  __asm__ volatile(
      "csrrw t0, mscratch, t0\n\t"
      "sd t1, 0(t0)\n\t"
      "csrr t1, time\n\t"
      "sd t1, 8(t0)\n\t"
      "ld t1, 16(t0)\n\t"
      "sw zero, 0(t1)\n\t"
      "ld t1, 0(t0)\n\t"
      "csrrw t0, mscratch, t0\n\t"
      "mret");
}

void uc_setup(unsigned n) {
  uc_check(n <= HARTS, "there are plans for four harts");
  places = uc_alloc(PLACES * stride, (unsigned)node);
  uc_table_make(&began, n, STEPS);
  uc_table_make(&ended, n, STEPS);
  uc_table_make(&taken, n, 1);
}

struct span {
  uint64_t begin, end;
};

// Waits until `when`, unless it has passed, then executes the instructions between two reads of the
// clock. The first read is seven instructions after `when`.
#define STEP(instructions)                                     \
  __asm__ volatile(                                            \
      "csrr %0, time\n\tsub %0, %2, %0\n\tsrai t0, %0, 63\n\t" \
      "not t0, t0\n\tand %0, %0, t0\n\tsltiu x0, %0, 5\n\t"    \
      "csrr %0, time\n\t" instructions "\n\tcsrr %1, time"     \
      : "=&r"(span.begin), "=&r"(span.end)                     \
      : "r"(when), "r"(at)                                     \
      : "memory", "t0", "t1")

// Rare steps, in a function of their own for the reason given at device_step().
__attribute__((noinline)) static struct span atomic_step(uint64_t when, uint64_t what, char* at) {
  struct span span = {0, 0};
  switch (what) {
    case 24:  // an attempt of 22 instructions
      STEP("lr.d t0, (%3)\n\t.rept 20\n\tnop\n\t.endr\n\tsc.d t1, t0, (%3)");
      break;
    case 25:  // an attempt that is too long
      STEP("lr.d t0, (%3)\n\t.rept 100\n\tnop\n\t.endr\n\tsc.d t1, t0, (%3)");
      break;
    case 26:  // an attempt that ends in a branch
      STEP("lr.d t0, (%3)\n\t.rept 20\n\tnop\n\t.endr\n\tbeqz zero, 1f\n1:");
      break;
    case 27:  // an attempt that ends in another, which ends in its SC
      STEP("lr.d t0, (%3)\n\t.rept 20\n\tnop\n\t.endr\n\tlr.d t0, (%3)\n\tsc.d t1, t0, (%3)");
      break;
    case 28:  // an atomic whose result is not used
      STEP("amoadd.d zero, zero, (%3)");
      break;
    case 29:  // three atomics whose results are not used
      STEP("amoadd.d zero, zero, (%3)\n\tamoadd.d zero, zero, (%3)\n\tamoadd.d zero, zero, (%3)");
      break;
    case 30:
      STEP("sd zero, 0(%3)\n\tfence w, r");
      break;
    case 31:
      STEP("sd zero, 0(%3)\n\tfence r, r");
      break;
    case 36:
      STEP("sd zero, 0(%3)\n\tfence w, w");
      break;
    case 43:
      STEP("sd zero, 0(%3)\n\tfence.tso");
      break;
    case 32:  // stores to a byte and to the next place, and a load that contains the byte
      STEP("sb zero, 0(%3)\n\tsd zero, 64(%3)\n\tld t0, 0(%3)");
      break;
    case 35:  // an attempt with a store before its SC
      STEP("lr.d t0, (%3)\n\t.rept 20\n\tnop\n\t.endr\n\tsd zero, 8(%3)\n\tsc.d t1, t0, (%3)");
      break;
    case 37:  // two loads
      STEP("ld t0, 0(%3)\n\t.rept 300\n\tnop\n\t.endr\n\tld t0, 0(%3)");
      break;
    case 38:  // two loads with an atomic between them
      STEP("ld t0, 0(%3)\n\t.rept 300\n\tnop\n\t.endr\n\tamoadd.d t1, zero, (%3)\n\tld t0, 0(%3)");
      break;
    case 42:  // two loads with more nops between them
      STEP("ld t0, 0(%3)\n\t.rept 900\n\tnop\n\t.endr\n\tld t0, 0(%3)");
      break;
    case 41:  // two loads with an LR between them
      STEP("ld t0, 0(%3)\n\t.rept 300\n\tnop\n\t.endr\n\tlr.d t1, (%3)\n\tld t0, 0(%3)");
      break;
    case 39:  // two loads with a load in the next place between them
      STEP("ld t0, 0(%3)\n\t.rept 300\n\tnop\n\t.endr\n\tld t0, 64(%3)\n\tld t0, 0(%3)");
      break;
    case 40:  // two loads, with a store to the same word between them
      STEP("ld t0, 0(%3)\n\t.rept 300\n\tnop\n\t.endr\n\tsd zero, 0(%3)\n\tld t0, 0(%3)");
      break;
    case 44:  // a store, and a load of the next word
      STEP("sd zero, 0(%3)\n\tld t0, 8(%3)");
      break;
    case 45:  // three independent loads
      STEP("ld t0, 0(%3)\n\tld t1, 64(%3)\n\tld t0, 128(%3)");
      break;
    case 46:  // two loads; the second one's address depends on the first
      STEP("ld t0, 0(%3)\n\tadd t0, t0, %3\n\tld t1, 64(t0)");
      break;
    case 47:  // two loads with a full fence between them
      STEP("ld t0, 0(%3)\n\tfence rw, rw\n\tld t1, 64(%3)");
      break;
    case 48:  // two loads with an acquire fence between them
      STEP("ld t0, 0(%3)\n\tfence r, rw\n\tld t1, 64(%3)");
      break;
    case 49:  // two loads; a branch skips the second, against the prediction
      STEP("ld t0, 0(%3)\n\tbeqz t0, 1f\n\tld t1, 64(%3)\n1:");
      break;
    case 50:  // two loads, with a store to the second one's word between them
      STEP("ld t0, 0(%3)\n\tsd zero, 64(%3)\n\tld t1, 64(%3)");
      break;
    case 51:  // two loads from one line, then one from another line
      STEP("ld t0, 0(%3)\n\tld t1, 8(%3)\n\tld t0, 64(%3)");
      break;
    case 52:  // a full fence after an atomic
      STEP("amoadd.d t0, zero, (%3)\n\tfence rw, rw");
      break;
    case 53:  // a full fence after another one
      STEP("sd zero, 0(%3)\n\tfence rw, rw\n\tfence rw, rw");
      break;
    case 54:  // wait until a word is not zero, with a pause after each load
      STEP("1:\tld t0, 0(%3)\n\t.word 0x0100000f\n\tbeqz t0, 1b");
      break;
    case 55:  // two pauses
      STEP(".word 0x0100000f\n\t.word 0x0100000f");
      break;
    case 56:  // wrs.nto: wait until another hart writes the word
      STEP("lr.d t0, (%3)\n\t.word 0x00d00073");
      break;
    case 57:  // wrs.sto: wait for a write, but only for a short time
      STEP("lr.d t0, (%3)\n\t.word 0x01d00073");
      break;
    case 58:  // wrs.nto without a reservation
      STEP("lr.d t0, (%3)\n\tsc.d t0, zero, (%3)\n\t.word 0x00d00073");
      break;
    case 59:  // wrs.nto with interrupts disabled in mstatus, and the timer's enabled in mie
      __asm__ volatile("csrci mstatus, 8\n\tcsrs mie, %0" ::"r"(128));
      STEP("lr.d t0, (%3)\n\t.word 0x00d00073");
      __asm__ volatile("csrc mie, %0\n\tcsrsi mstatus, 8" ::"r"(128));
      break;
    case 34:  // end the run by a trap without a handler; only a store if the place is not 0
      at = (char*)((uintptr_t)at * (at != places));
      STEP("csrw mtvec, zero\n\tsd zero, 0(%3)");
      break;
    default:
      uc_check(false, "a plan has a step that is none");
  }
  return span;
}

// Steps on device registers of harts. They are separate because the branches of the steps below
// would share counters of the branch predictor with branches 512 bytes away.
__attribute__((noinline)) static struct span device_step(uint64_t when, uint64_t what, char* at) {
  struct span span = {0, 0};
  switch (what) {
    case 19:  // clear an IPI as sent by step 14
      STEP("sw zero, 0(%3)");
      break;
    case 20:  // read whether the IPI is pending
      STEP("lw t0, 0(%3)");
      break;
    case 21:  // let a hart's timer expire
      STEP("sd zero, 0(%3)");
      break;
    case 22:  // sleep until an interrupt is pending, including the timer's, and take none
      __asm__ volatile("csrci mstatus, 8\n\tcsrs mie, %0" ::"r"(128));
      STEP("wfi");
      __asm__ volatile("csrc mie, %0\n\tcsrsi mstatus, 8" ::"r"(128));
      break;
    case 23:  // an IPI to every hart of the set
      STEP("sd zero, 0(%3)");
      break;
    case 33:  // set the own timer to the present time, and sleep until it is due
      __asm__ volatile("csrci mstatus, 8\n\tcsrs mie, %0" ::"r"(128));
      STEP("csrr t0, time\n\taddi t0, t0, 2\n\tsd t0, 0(%3)\n\twfi");
      __asm__ volatile("csrc mie, %0\n\tcsrsi mstatus, 8" ::"r"(128));
      break;
    default:
      return atomic_step(when, what, at);
  }
  return span;
}

static struct span step(uint64_t when, uint64_t what, char* at) {
  struct span span = {0, 0};
  switch (what) {
    case 1:
      STEP("ld t0, 0(%3)");
      break;
    case 2:
      STEP("sd zero, 0(%3)");
      break;
    case 3:
      STEP("amoadd.d t0, zero, (%3)");
      break;
    case 4:
      STEP("lr.d t0, (%3)");
      break;
    case 5:
      STEP("sc.d t0, zero, (%3)");
      break;
    case 6:
      STEP("fence rw, rw");
      break;
    case 7:
      STEP(".word 0x0100000f");  // pause
      break;
    case 8:
      STEP("nop");
      break;
    case 9:
      STEP("sd zero, 0(%3)\n\tld t0, 0(%3)");
      break;
    case 10:
      STEP("sb zero, 0(%3)\n\tld t0, 0(%3)");
      break;
    case 11:
      STEP("sd zero, 0(%3)\n\tfence rw, rw");
      break;
    case 12:
      STEP("sd zero, 0(%3)\n\tsd zero, 64(%3)\n\tsd zero, 128(%3)");
      break;
    case 13:
      STEP("li t0, 3\n1:\taddi t0, t0, -1\n\tbnez t0, 1b");
      break;
    case 14: {  // an IPI to the hart whose msip register is `at`
      STEP("li t0, 1\n\tsw t0, 0(%3)");
      break;
    }
    case 15: {  // sleep until interrupted
      STEP("wfi");
      break;
    }
    case 16:  // compute for 200 instructions
      STEP("li t0, 100\n1:\taddi t0, t0, -1\n\tbnez t0, 1b");
      break;
    case 17:  // wait until a word is not zero
      STEP("1:\tld t0, 0(%3)\n\tbeqz t0, 1b");
      break;
    case 18:
      STEP("li t0, 1\n\tsd t0, 0(%3)");
      break;
    default:
      return device_step(when, what, at);
  }
  return span;
}

static char* place(uint64_t what, uint64_t number) {
  if (what == 14 || what == 19 || what == 20) return (char*)(UC_CLINT_BASE + 4 * number);
  if (what == 21 || what == 33) return (char*)(UC_CLINT_BASE + UC_CLINT_MTIMECMP + 8 * number);
  if (what == 23) {
    *(volatile uint64_t*)UC_MULTICAST_BASE = number;
    return (char*)(UC_MULTICAST_BASE + UC_MULTICAST_SEND);
  }
  return places + number * stride;
}

// Reads the jump tables of the switches, which the compiler puts before other constants. Otherwise
// a step that is the first to use such a line would be late.
static void read_jump_tables(void) {
  const volatile char* constants = (const volatile char*)plans;
  for (unsigned before = 64; before <= JUMP_TABLES; before += 64) (void)constants[-(int)before];
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t plan[STEPS];
  struct span spans[STEPS];
  for (unsigned i = 0; i < STEPS; i++) {
    plan[i] = *plans[id][i];
    spans[i] = (struct span){0, 0};
  }
  scratch[id].msip = (volatile uint32_t*)(UC_CLINT_BASE + 4ul * id);
  scratch[id].taken = 0;
  read_jump_tables();
  __asm__ volatile("csrw mscratch, %0\n\tcsrw mtvec, %1" ::"r"(&scratch[id]), "r"(handler));
  uc_barrier();
  for (unsigned i = 0; i < STEPS && plan[i]; i++) {
    uint64_t what = plan[i] >> 8 & 255;
    spans[i] = step(start + (plan[i] >> 16), what, place(what, plan[i] & 255));
  }
  uc_barrier();
  for (unsigned i = 0; i < STEPS; i++) {
    *uc_cell(&began, id, i) = spans[i].begin;
    *uc_cell(&ended, id, i) = spans[i].end;
  }
  *uc_cell(&taken, id, 0) = scratch[id].taken;
}
