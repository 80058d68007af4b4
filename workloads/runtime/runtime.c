// The life of a program, from the first C instruction of each hart to the exit.
//
// Hart 0 alone prepares the number of harts, clock and memory, calls the workload's uc_setup and
// then opens the gate. Each hart runs uc_main. Hart 0 waits for all of them, reports and exits.
#include "runtime.h"

struct uc_boot uc_boot UC_SECTION("boot") = {
    .magic = UC_MAGIC, .nodes = 1, .timebase_hz = 10000000, .clock = UC_CLOCK_TIME, .report = 1};

struct uc_hart uc_harts[UC_MAX_HARTS];
struct uc_record_block uc_record[UC_MAX_HARTS];

struct uc_gate uc_gate;

__attribute__((weak)) void uc_setup(unsigned n) { (void)n; }
__attribute__((weak)) void uc_finish(unsigned n) { (void)n; }

static void prepare(void) {
  unsigned harts = uc_boot.harts ? (unsigned)uc_boot.harts : uc_arguments();
  if (harts > UC_MAX_HARTS) uc_fatal("more harts than UC_MAX_HARTS: ", harts);
  uc_clock_start();
  uc_memory_start(harts);
  uc_setup(harts);
  atomic_store_explicit(&uc_gate.harts, harts, memory_order_release);
}

static unsigned wait_for_gate(void) {
  unsigned harts;
  while (!(harts = atomic_load_explicit(&uc_gate.harts, memory_order_acquire))) uc_pause();
  return harts;
}

static _Noreturn void finish(unsigned harts) {
  uc_finish(harts);
  uint64_t failures = uc_report_failures(harts);
  if (uc_boot.report) uc_report(harts);
  uc_exit(failures ? UC_EXIT_CHECK_FAILED : UC_EXIT_OK);
}

_Noreturn void uc_run(unsigned id) {
  if (id == 0) prepare();
  unsigned harts = wait_for_gate();
  if (id >= harts) uc_park();

  uc_accept_ipis(true);
  uc_interrupts_restore(true);
  uc_main(id, harts);
  uc_accept_ipis(false);  // the timer still ends a wait that would never end

  uc_gather(id);
  uc_interrupts_off();
  if (id == 0) finish(harts);
  uc_park();
}

_Noreturn void uc_fatal(const char* why, uint64_t number) {
  uc_put("uc: ");
  uc_put(why);
  uc_put_number(number);
  uc_put("\n");
  uc_exit(UC_EXIT_TRAPPED);
}

void uc_roi(bool on) {
  if (on) {
    UC_MARK(UC_MARK_ROI_ON, 0);
    uc_self()->begin_ns = uc_now();
    uc_self()->begun_at = uc_self()->ops;
  } else {
    uc_self()->end_ns = uc_now();
    uc_self()->ended_at = uc_self()->ops;
    UC_MARK(UC_MARK_ROI_OFF, 0);
  }
}

void uc_failed(const char* why) {
  struct uc_record* self = uc_self();
  if (self->failures++ == 0) self->why = why;
  UC_MARK(UC_MARK_CHECK_FAILED, why);
}

_Noreturn void uc_refused(const char* why) {
  uc_failed(why);
  uc_exit(UC_EXIT_CHECK_FAILED);
}

uint64_t uc_total_ops(unsigned n) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < n; i++) sum += uc_record[i].record.ops;
  return sum;
}

// The compiler may call these two functions for structures, whatever its flags are.
void* memset(void* to, int byte, size_t size) {
  for (size_t i = 0; i < size; i++) ((volatile char*)to)[i] = (char)byte;
  return to;
}

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  for (size_t i = 0; i < size; i++) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}
