// First instructions of every hart: all harts enter here at once, in machine mode, with only
// mhartid known. Sets the hart's trap vector, its record (tp) and its stack, and jumps to uc_run.
#include "uncore_abi.h"

  .section .text.start, "ax"
  .globl _start
  .type _start, @function
_start:
  csrr a0, mhartid
  li t0, UC_MAX_HARTS
  bgeu a0, t0, uc_park
  csrw mie, zero
  la t0, uc_trap
  csrw mtvec, t0

  // Some machines reset mtimecmp to 0; then the timer interrupt would pend and wfi never sleep.
  li t0, UC_CLINT_BASE + UC_CLINT_MTIMECMP
  slli t1, a0, 3
  add t0, t0, t1
  li t1, -1
  sd t1, 0(t0)

  la tp, uc_record
  slli t0, a0, UC_BLOCK_SHIFT
  add tp, tp, t0

  la sp, uc_stacks
  addi t0, a0, 1
  li t1, UC_STACK_STRIDE
  mul t0, t0, t1
  add sp, sp, t0
  tail uc_run
  .size _start, . - _start

// Stops a hart for good: no interrupt can wake it.
  .globl uc_park
  .type uc_park, @function
uc_park:
  csrw mie, zero
1:
  wfi
  j 1b
  .size uc_park, . - uc_park
