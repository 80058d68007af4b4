// The contract between a guest program and the engine that runs it, in one place.
//
// A guest ELF describes itself: its sections carry the boot block an engine patches (.uc.boot), the
// parameters a user may set (.uc.params), the tables it will publish (.uc.tables) and one line of
// summary (.uc.summary). While it runs it keeps one record per hart, and it marks events with HINT
// instructions. This header is C, C++ and, for the constants, assembly; the Python side
// (sim/uncore/program) repeats only the order of the fields, and a test compares the two through
// the debug information.
//
// Invariant: every structure is a sequence of 64-bit little-endian words, without padding before
// its last field.
#ifndef UNCORE_ABI_H_
#define UNCORE_ABI_H_

#define UC_MAGIC "uncore2"  // eight bytes with its zero; changes with the layouts in this file

#define UC_RAM_BASE 0x80000000
#define UC_CLINT_BASE 0x02000000
#define UC_CLINT_MTIMECMP 0x4000
#define UC_CLINT_MTIME 0xbff8
// Multicast registers (QEMU has none): a bit for each hart, and one that sends to all set bits.
#define UC_MULTICAST_BASE 0x02010000
#define UC_MULTICAST_SEND 0x1000
// The 16550 UART: the transmitter is at the base; the line status says that it is empty.
#define UC_UART_BASE 0x10000000
#define UC_UART_LINE_STATUS 5
#define UC_UART_TRANSMITTER_EMPTY 0x60

// Semihosting calls, with the numbers of Arm's specification. The argument of an exit is a block of
// two words: the reason, UC_SYS_ENDED for a program that ends normally, and the exit code.
#define UC_SYS_WRITE0 0x04
#define UC_SYS_GET_CMDLINE 0x15
#define UC_SYS_EXIT 0x18
#define UC_SYS_EXIT_EXTENDED 0x20
#define UC_SYS_ENDED 0x20026

#define UC_MAX_HARTS 4096
#define UC_MAX_NODES 256

// Everything that belongs to one hart, and everything uc_alloc returns, starts on a boundary of
// this many bytes: the largest line of a machine we describe, and two 64-byte lines, which an
// adjacent-line prefetcher fetches as a pair.
#define UC_BLOCK 128
#define UC_BLOCK_SHIFT 7

// Distance between two stacks: 16 KiB and a block. It is an odd number of blocks, so that the hot
// lines of a thousand stacks do not all fall into the same few sets of a shared cache.
#define UC_STACK_STRIDE 16512

// Number of bytes at the low end of a stack that its hart must not use. An engine that watches them
// reports "stack overflow" before the next stack is overwritten.
#define UC_STACK_GUARD 1024

// Exit codes of a guest program.
#define UC_EXIT_OK 0
#define UC_EXIT_CHECK_FAILED 1  // a uc_check did not hold
#define UC_EXIT_BAD_ARGUMENT 2  // the command line names an unknown parameter
#define UC_EXIT_TRAPPED 3       // an unexpected exception, or memory exhausted

// Markers, `sltiu x0, rs1, imm`: a HINT reserved for custom use. In an engine that knows markers
// they take no time; on every other machine they are no-ops.
#define UC_MARK_OP 1            // rs1 operations are done; 0 stands for one
#define UC_MARK_ROI_ON 2        // this hart enters the region of interest
#define UC_MARK_ROI_OFF 3       // this hart leaves the region of interest
#define UC_MARK_CHECK_FAILED 4  // rs1 = address of the message, a C string
#define UC_MARK_DELAY 5         // rs1 = ns; an engine may skip this time at once, or ignore it
#define UC_MARK_START 6         // one operation starts: its latency runs from here to UC_MARK_OP
#define UC_MARK_KIND 7          // the operation is of kind rs1, a position in UC_KINDS, from here
#define UC_MARK_WARM_UP 8       // nothing is measured on this hart until UC_MARK_ROI_ON

// The longest delay, in ns (eleven days). A delay from a negative number, which is huge as an
// unsigned one, must not make the time wrap around.
#define UC_LONGEST_DELAY 1000000000000000

// The counter that uc_now() reads; timebase_hz is its frequency.
#define UC_CLOCK_TIME 0   // CSR time
#define UC_CLOCK_CYCLE 1  // CSR cycle, if all harts share it and CSR time does not advance
#define UC_CLOCK_MTIME 2  // the CLINT's register

#ifndef __ASSEMBLER__

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The engine patches this block before the start. The ELF's values fit QEMU's `virt` machine.
struct uc_boot {
  char magic[8];
  uint64_t harts;        // harts that take part: mhartid 0 to harts-1; 0 = ask the command line
  uint64_t nodes;        // memory nodes; node k owns [UC_RAM_BASE + k*node_size, + node_size)
  uint64_t node_size;    // bytes; 0 = all memory is one node
  uint64_t timebase_hz;  // frequency of the counter that `clock` selects
  uint64_t clock;        // UC_CLOCK_...
  uint64_t multicast;    // harts that a message reaches; 0 = no registers at UC_MULTICAST_BASE
  uint64_t report;       // 1 = print records and tables at the end, for engines that cannot read
};

// There is one per hart, at symbol uc_record, UC_BLOCK bytes apart. It counts the hart's work. An
// engine writes only the field `node`, before the start.
struct uc_record {
  uint64_t ops;       // operations done (uc_op)
  uint64_t begun_at;  // `ops` when the measured part began (uc_roi(1))
  uint64_t ended_at;  // `ops` when it ended (uc_roi(0))
  uint64_t begin_ns;  // time of uc_roi(1)
  uint64_t end_ns;    // time of uc_roi(0)
  uint64_t failures;  // checks that did not hold
  const char* why;    // the first failure: "file:line: reason"
  uint64_t node;      // memory node nearest to the hart; 0 where the engine cannot tell
};

// There is one per UC_PARAM, in section .uc.params.
struct uc_param {
  const char* name;
  const char* type;  // i64, u64, bool, duration (ns) or choice
  const char* unit;  // for a choice, its words in order: "all|one"
  const char* help;
  uint64_t* value;  // points to the value, which is the default in the ELF
};

// There is one per UC_TABLE, in section .uc.tables: a matrix that the program fills.
struct uc_table {
  const char* name;
  const char* unit;
  const char* help;
  uint64_t* cells;  // row by row; 0 until uc_table_make
  uint64_t rows;
  uint64_t cols;
};

#ifdef __cplusplus
}
#endif

#endif  // __ASSEMBLER__
#endif  // UNCORE_ABI_H_
