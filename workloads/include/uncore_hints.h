// Hints with which a program with main() marks its operations. On a machine of uncore's each is one
// instruction. Compiled for any other machine they are nothing, except under `uncore run --host`,
// which counts them (runtime/counted).
//
//     uncore_begin();                     the measured part of this thread begins
//     for (...) { work(); uncore_op(); }  one operation is done
//     uncore_end();                       the measured part ends
#ifndef UNCORE_HINTS_H
#define UNCORE_HINTS_H

#include "uncore_abi.h"

#ifdef UNCORE_COUNTED
#ifdef __cplusplus
extern "C" {
#endif
extern __thread unsigned long* uncore_operations;
void uncore_thread_begins(void);
void uncore_thread_ends(void);
#ifdef __cplusplus
}
#endif
#define uncore_begin() uncore_thread_begins()
#define uncore_op() (uncore_operations ? (void)++*uncore_operations : uncore_first_operation())
#define uncore_end() uncore_thread_ends()

static inline __attribute__((unused)) void uncore_first_operation(void) {
  uncore_thread_begins();
  ++*uncore_operations;
}
#else
#ifdef __riscv
#define UNCORE_TEXT_(code) #code
#define UNCORE_TEXT(code) UNCORE_TEXT_(code)
// The HINT sltiu x0, x0, code: UC_MARK of machine_guest.h, with the value 0.
#define UNCORE_HINT(code) __asm__ volatile("sltiu x0, x0, " UNCORE_TEXT(code)::: "memory")
#else
#define UNCORE_HINT(code) ((void)0)
#endif

#define uncore_begin() UNCORE_HINT(UC_MARK_ROI_ON)
#define uncore_op() UNCORE_HINT(UC_MARK_OP)
#define uncore_end() UNCORE_HINT(UC_MARK_ROI_OFF)
#endif

#endif
