// uc_switch_registers(from, to) for x86-64, like the guest's switch.S. s[0..5] are the callee-saved
// registers rbx, rbp, r12 to r15; the other fields of the context are not used.
  .text
  .globl uc_switch_registers
  .type uc_switch_registers, @function
uc_switch_registers:
  movq (%rsp), %rax
  movq %rax, 0(%rdi)
  leaq 8(%rsp), %rax
  movq %rax, 8(%rdi)
  movq %rbx, 16(%rdi)
  movq %rbp, 24(%rdi)
  movq %r12, 32(%rdi)
  movq %r13, 40(%rdi)
  movq %r14, 48(%rdi)
  movq %r15, 56(%rdi)

  movq 8(%rsi), %rsp
  movq 16(%rsi), %rbx
  movq 24(%rsi), %rbp
  movq 32(%rsi), %r12
  movq 40(%rsi), %r13
  movq 48(%rsi), %r14
  movq 56(%rsi), %r15
  jmpq *0(%rsi)
  .size uc_switch_registers, . - uc_switch_registers

// A new thread begins here: its first context has the thread itself in s[0].
  .globl uc_thread_begin
  .type uc_thread_begin, @function
uc_thread_begin:
  movq %rbx, %rdi
  call uc_thread_main
  ud2
  .size uc_thread_begin, . - uc_thread_begin

  .section .note.GNU-stack, "", @progbits
