// Begins the workload's own code, which is linked behind this file, at an address that does not
// depend on the size of the runtime: branches find their counters by address (H2), and handoffs of
// siblings, which numbers of machines were fitted to, take as long as their loop is predicted.
  .section .text.workload_begins, "axR", @progbits
  .balign 1024
  .rept 0x2fc / 4
  nop
  .endr
