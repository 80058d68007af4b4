// Declarations shared by the runtime's parts: those in this folder, for both guest and host, and
// those in guest/ and host/. Workloads do not include this file.
#ifndef UNCORE_RUNTIME_H_
#define UNCORE_RUNTIME_H_

#include "uncore.h"

// The runtime's state of one hart. Other harts read the first block, while only this hart uses the
// second, so they are on different lines.
struct uc_hart {
  UC_ALIGNED _Atomic uint64_t arrived;  // number of rounds in which this hart's subtree arrived
  _Atomic uint64_t released;            // number of rounds in which its parent released it
  UC_ALIGNED uint64_t round;
  void (*on_ipi)(void);
  volatile uint64_t ipis_taken;
  uint64_t ipis_waited;  // `ipis_taken` when uc_wait last returned
  volatile bool no_semihosting;
  uint64_t patience_ends;  // value of uc_now() by which the program must have ended
};

// The number of harts, 0 until hart 0 has prepared everything. These two structures are not static
// because the compiler would turn static ones into plain variables, which share lines.
extern struct uc_gate {
  UC_ALIGNED _Atomic unsigned harts;
} uc_gate;

// Read-only once harts run: nanoseconds per tick as a 32.32 fixed-point number, exact for every
// frequency that divides 1 GHz.
extern struct uc_clock {
  UC_ALIGNED uint64_t ns_per_tick;
  uint64_t source;
} uc_clock;

extern struct uc_hart uc_harts[UC_MAX_HARTS];
extern struct uc_boot uc_boot;

#ifdef UC_HOST
#define uc_params_begin __start_uncore_params
#define uc_params_end __stop_uncore_params
#define uc_tables_begin __start_uncore_tables
#define uc_tables_end __stop_uncore_tables
#define UC_OPTIONAL __attribute__((weak))  // the linker defines these symbols only if used
#define UC_THREAD_STACK (256 << 10)        // signal frames and the C library need more than guests
#else
#define UC_OPTIONAL
#define UC_THREAD_STACK UC_STACK_STRIDE
#endif
extern UC_OPTIONAL const struct uc_param uc_params_begin[], uc_params_end[];
extern UC_OPTIONAL struct uc_table uc_tables_begin[], uc_tables_end[];

static inline struct uc_hart* uc_hart(void) { return &uc_harts[uc_id()]; }

static inline unsigned uc_hart_count(void) {
  return atomic_load_explicit(&uc_gate.harts, memory_order_relaxed);
}

// guest/ or host/
_Noreturn void uc_park(void);
// runtime.c
_Noreturn void uc_run(unsigned id);
_Noreturn void uc_fatal(const char* why, uint64_t number);
// gather.c
void uc_gather(unsigned id);
// trap.c
void uc_trap(void);
void uc_accept_ipis(bool on);

// Sleeps until an interrupt is pending, whether or not interrupts are off.
#ifdef UC_HOST
void uc_sleep_until_interrupt(void);
#else
static inline void uc_sleep_until_interrupt(void) { __asm__ volatile("wfi" ::: "memory"); }
#endif
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
