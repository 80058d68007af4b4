// The whole interface between a workload and the machine it runs on.
//
// A workload is one C file: it includes this header, uses C11 atomics directly, and defines
//
//     void uc_setup(unsigned n);              hart 0, alone, before the others start   (optional)
//     void uc_main(unsigned id, unsigned n);  every hart, id 0 to n-1
//     void uc_finish(unsigned n);             hart 0, after all have returned          (optional)
//
// The program ends when uc_main has returned on every hart: with success if every uc_check held.
//
// A workload waits for memory in a plain loop of load, compare and uc_pause(). Engines recognise
// such a loop and skip its iterations, so it must neither read the time nor count iterations.
#ifndef UNCORE_H_
#define UNCORE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uncore_abi.h"

// UC_MACHINE below declares a function that is a few inline instructions on a guest.
#ifdef UC_HOST
#include "machine_host.h"
#else
#include "machine_guest.h"
#endif

void uc_setup(unsigned n);
void uc_main(unsigned id, unsigned n);
void uc_finish(unsigned n);

// ---- A program's description of itself ----------------------------------------------------------

// Gives the sentence shown in the list of workloads.
#define UC_WORKLOAD(summary) static const char uc_summary[] UC_SECTION("summary") = summary

// Names the kinds of operations, if there are several: "first|second|...".
#define UC_KINDS(words) \
  static const char uc_kinds[] __attribute__((section(".uc.kinds"), used)) = words

typedef int64_t uc_i64;
typedef uint64_t uc_u64;
typedef uint64_t uc_bool;
typedef uint64_t uc_duration;  // nanoseconds
typedef uint64_t uc_choice;    // position of the word in the unit "first|second|..."

// A value that the user may set without compiling; the workload reads the variable `name`. Values
// share lines only with each other and are not written while harts run.
#define UC_PARAM(type, name, initial, unit, help) \
  UC_VALUE(uc_##type, #type, name, #name, initial, unit, help)

// A parameter whose variable has a different name than the parameter that the user writes.
#define UC_OPTION(type, variable, name, initial, unit, help) \
  UC_VALUE(uc_##type, #type, variable, #name, initial, unit, help)

// Two names for one variable: the command line sets uc_value_..., and the workload reads
// `variable`, which the compiler takes for a constant of unknown value. So the compiler may read it
// once and keep it in a register; in the modelled code it is a constant, too.
#define UC_VALUE(type, written, variable, name, initial, unit, help)        \
  type uc_value_##variable UC_SECTION("values") = (initial);                \
  extern const type variable __attribute__((visibility("hidden")));         \
  __asm__(".set " #variable ", uc_value_" #variable);                       \
  static const struct uc_param uc_param_##variable UC_SECTION("params") = { \
      name, written, unit, help, (uint64_t*)&uc_value_##variable}

// Inlined into each of its calls: one call passes constants for options at their defaults, and one
// reads the options. So options at their defaults take no instruction.
#define UC_SPECIALISED static inline __attribute__((always_inline))

// A matrix of numbers that the engine reads after the run. Make it in uc_setup, then store cells.
#define UC_TABLE(name, unit, help) \
  struct uc_table name UC_SECTION("tables") = {#name, unit, help, 0, 0, 0}
void uc_table_make(struct uc_table* table, uint64_t rows, uint64_t cols);
static inline uint64_t* uc_cell(const struct uc_table* table, uint64_t row, uint64_t col) {
  return &table->cells[row * table->cols + col];
}

// Aligns the first member of a struct to a block. The struct's size is then a multiple of a block,
// and no two such structs share a line. The size of a plain variable is not rounded up, so memory
// that harts share comes from uc_alloc.
#define UC_ALIGNED _Alignas(UC_BLOCK)

// ---- Identity, time, memory ---------------------------------------------------------------------

extern struct uc_record_block {
  UC_ALIGNED struct uc_record record;
} uc_record[UC_MAX_HARTS];

// Returns this hart's number. A thread that slept (thread.h) may have moved to another hart.
UC_MACHINE unsigned uc_id(void);

// Returns nanoseconds on a clock common to all harts.
uint64_t uc_now(void);

// Lets `ns` nanoseconds pass; interrupts are served meanwhile.
void uc_delay(uint64_t ns);

// Executes about n instructions that touch no memory.
UC_MACHINE void uc_work(int64_t n);

// Allocates zeroed memory on a node, rounded up to whole blocks of UC_BLOCK bytes. It is never
// freed. Any hart may call this at any time.
void* uc_alloc(size_t size, unsigned node);
unsigned uc_nodes(void);

// Returns the memory node nearest to a hart; 0 where the engine cannot tell.
static inline unsigned uc_node_of(unsigned hart) { return (unsigned)uc_record[hart].record.node; }

// ---- Waiting and waking -------------------------------------------------------------------------

// Pauses inside a loop that waits for memory.
UC_MACHINE void uc_pause(void);

// Returns when all harts have called it: a static tree, so one round costs O(n) messages and
// O(log n) time.
void uc_barrier(void);

// Sends an interprocessor interrupt; stores made before it are visible to its handler.
void uc_ipi(unsigned hart);

// Sends an IPI to every hart below n whose bit (hart % 64 of set[hart / 64]) is set. With multicast
// interrupts that is one message for each group of harts that one message can reach; on other
// machines it is one message for each hart.
void uc_ipi_many(const uint64_t set[], unsigned n);

// Sets the handler that this hart runs, interrupts off, when an IPI arrives. Null: it only wakes.
void uc_on_ipi(void (*handler)(void));

// Sleeps until this hart has taken an IPI since its last uc_wait. An IPI taken just before the call
// counts, so no wake-up is lost. IPIs that the hardware has merged wake once.
void uc_wait(void);

// Turns interrupts off, for data shared with handlers. Returns the state to restore.
UC_MACHINE bool uc_interrupts_off(void);
UC_MACHINE void uc_interrupts_restore(bool on);

// ---- Counting and checking ----------------------------------------------------------------------

UC_MACHINE struct uc_record* uc_self(void);  // this hart's record

// Starts an operation; needed only where its latency is measured.
static inline void uc_start(void) { UC_MARK(UC_MARK_START, 0); }

// Names the kind of the operation from here to its end, or until another kind is named. `uncore
// conflicts` reports which kinds conflict. Without a call operations are of the first kind.
static inline void uc_kind(uint64_t kind) { UC_MARK(UC_MARK_KIND, kind); }

// Ends an operation, and counts it.
static inline void uc_op(void) {
  uc_self()->ops++;
  UC_MARK(UC_MARK_OP, 0);
}

// Ends a batch of operations, for loops too short to count in each iteration.
static inline void uc_ops(uint64_t batch) {
  uc_self()->ops += batch;
  UC_MARK(UC_MARK_OP, batch);
}

// Opens (true) or closes the region of interest. Throughput is operations over its time.
void uc_roi(bool on);

// Begins a warm-up, which is not measured and ends when this hart opens the region of interest.
static inline void uc_warm_up(void) { UC_MARK(UC_MARK_WARM_UP, 0); }

// Returns the operations of harts 0 to n-1, including the warm-up. To be called in uc_finish.
uint64_t uc_total_ops(unsigned n);

#define UC_TEXT_(x) #x
#define UC_TEXT(x) UC_TEXT_(x)
// Reports progress: one more of many equal parts is done. Shown when a real machine runs it.
UC_MACHINE void uc_progress(void);

// Checks a condition. A failure is recorded with file and line, and the run fails at its end.
#define uc_check(ok, why)                                                               \
  do {                                                                                  \
    if (__builtin_expect(!(ok), 0)) uc_failed(__FILE__ ":" UC_TEXT(__LINE__) ": " why); \
  } while (0)
void uc_failed(const char* why);

// Checks, in uc_setup, a condition on the parameters. If it is false the program fails at once.
#define uc_require(ok, why)                                         \
  do {                                                              \
    if (!(ok)) uc_refused(__FILE__ ":" UC_TEXT(__LINE__) ": " why); \
  } while (0)
_Noreturn void uc_refused(const char* why);

// Sets a limit to the rest of the program, in ns. After it the program ends with a failed check of
// the calling hart, so a wait without end is noticed where no engine watches for it.
void uc_patience(uint64_t ns);

// Tests compile variants with UC_SABOTAGE=1: there a workload leaves out a step that makes it
// correct, and its checks must notice that.
#ifndef UC_SABOTAGE
#define UC_SABOTAGE 0
#endif

// `uncore fences` compiles with UC_WITNESS=1: then a workload also writes and reads the data that
// its memory orders protect, which the measured program leaves alone.
#ifndef UC_WITNESS
#define UC_WITNESS 0
#endif

#endif  // UNCORE_H_
