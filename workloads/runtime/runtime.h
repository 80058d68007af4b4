// What the parts of the guest runtime share; workloads do not include this.
#ifndef UNCORE_RUNTIME_H_
#define UNCORE_RUNTIME_H_

#include "uncore.h"

// What the runtime keeps for one hart. The two blocks are apart because the first is written by
// other harts and the second by this one only.
struct uc_hart {
  UC_ALIGNED _Atomic uint64_t arrived;  // barrier rounds this hart's subtree has reached
  _Atomic uint64_t released;            // rounds its parent has let go
  UC_ALIGNED uint64_t round;
  void (*on_ipi)(void);
  volatile uint64_t ipis_taken;
  uint64_t ipis_waited;  // of those, how many uc_wait has returned for
  volatile bool no_semihosting;
};

extern struct uc_hart uc_harts[UC_MAX_HARTS];
extern struct uc_boot uc_boot;
extern const struct uc_param uc_params_begin[], uc_params_end[];
extern struct uc_table uc_tables_begin[], uc_tables_end[];

static inline struct uc_hart* uc_hart(void) { return &uc_harts[uc_id()]; }

// start.S
_Noreturn void uc_park(void);
// runtime.c
unsigned uc_hart_count(void);
_Noreturn void uc_fatal(const char* why, uint64_t number);
// barrier.c
void uc_gather(unsigned id);
// trap.c
void uc_trap(void);
// clock.c
void uc_clock_start(void);
// memory.c
void uc_memory_start(unsigned harts);
// arguments.c
unsigned uc_arguments(void);
// console.c
void uc_put(const char* text);
void uc_put_number(uint64_t number);
void uc_put_hex(uint64_t number);
bool uc_command_line(char* buffer, size_t size);
_Noreturn void uc_exit(int code);
// report.c
uint64_t uc_report_failures(unsigned harts);
void uc_report(unsigned harts);

#endif  // UNCORE_RUNTIME_H_
