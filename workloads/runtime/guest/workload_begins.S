// The workload's code is linked after this file. It begins at an address that does not depend on
// the size of the runtime, because branch predictors select counters by address (H2), and the time
// of handoffs between siblings, to which machines were fitted, depends on predictions.
  .section .text.workload_begins, "axR", @progbits
  .balign 1024
  .rept 0x2fc / 4
  nop
  .endr
