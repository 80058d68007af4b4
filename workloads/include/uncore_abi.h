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

#define UC_MAGIC "uncore2"  // eight bytes with its zero; changes when this file does

#define UC_RAM_BASE 0x80000000
#define UC_CLINT_BASE 0x02000000
#define UC_CLINT_MTIMECMP 0x4000
#define UC_CLINT_MTIME 0xbff8
// Not on QEMU: words of 64 harts each, and the register that sends an IPI to all of them.
#define UC_MULTICAST_BASE 0x02010000
#define UC_MULTICAST_SEND 0x1000
// The 16550's transmitter, at the base, and its line status: it is always empty.
#define UC_UART_BASE 0x10000000
#define UC_UART_LINE_STATUS 5
#define UC_UART_TRANSMITTER_EMPTY 0x60

// Semihosting calls, as Arm's specification numbers them. An exit's argument is a block of two
// words: the reason, which for a program that ends of itself is UC_SYS_ENDED, and the code.
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

// Distance between two stacks, 16 KiB and a block. An odd number of blocks, so that the hot lines
// of a thousand stacks do not all fall into the same few sets of a shared cache.
#define UC_STACK_STRIDE 16512

// The lowest bytes of a stack, which its hart must leave alone: an engine that watches them can say
// "stack overflow" before the neighbour's stack is spoilt.
#define UC_STACK_GUARD 1024

// Exit codes of a guest program.
#define UC_EXIT_OK 0
#define UC_EXIT_CHECK_FAILED 1  // a uc_check did not hold
#define UC_EXIT_BAD_ARGUMENT 2  // the command line names no such parameter
#define UC_EXIT_TRAPPED 3       // an exception nobody expected, or memory exhausted

// Markers: `sltiu x0, rs1, imm`, a HINT set aside for custom use. An engine that knows them takes
// no time for them; everywhere else they are no-ops.
#define UC_MARK_OP 1            // one operation is done, or as many as rs1 says if it is not 0
#define UC_MARK_ROI_ON 2        // this hart enters the region of interest
#define UC_MARK_ROI_OFF 3       // this hart leaves it
#define UC_MARK_CHECK_FAILED 4  // rs1 = address of the message, a C string
#define UC_MARK_DELAY 5         // rs1 = ns; an engine may let that time pass at once, or ignore it
#define UC_MARK_START 6         // one operation starts: its latency runs from here to UC_MARK_OP
#define UC_MARK_KIND 7          // what follows is of kind rs1, a position in UC_KINDS
#define UC_MARK_WARM_UP 8       // what this hart does until UC_MARK_ROI_ON is not measured

// The longest delay, in ns (eleven days): one that was asked for with a negative number must not
// turn time back.
#define UC_LONGEST_DELAY 1000000000000000

// The counter that uc_now() reads; timebase_hz is its frequency.
#define UC_CLOCK_TIME 0   // CSR time
#define UC_CLOCK_CYCLE 1  // CSR cycle, where it is common to all harts and time stands still
#define UC_CLOCK_MTIME 2  // the CLINT's register

#ifndef __ASSEMBLER__

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Patched before the start; the values in the ELF are right for QEMU's `virt` machine.
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

// One per hart, at symbol uc_record, UC_BLOCK bytes apart: what the hart has done, and the one
// thing that an engine tells it before the start.
struct uc_record {
  uint64_t ops;       // operations done (uc_op)
  uint64_t begun_at;  // number of these when the measured part began
  uint64_t ended_at;  // and when it ended (uc_roi(0))
  uint64_t begin_ns;  // uc_roi(1)
  uint64_t end_ns;    // uc_roi(0)
  uint64_t failures;  // checks that did not hold
  const char* why;    // the first of them: "file:line: reason"
  uint64_t node;      // memory node nearest to the hart; 0 where the engine cannot tell
};

// One per UC_PARAM, in section .uc.params.
struct uc_param {
  const char* name;
  const char* type;  // i64, u64, bool, duration (ns) or choice
  const char* unit;  // for a choice, its words in order: "all|one"
  const char* help;
  uint64_t* value;  // place of the value; the ELF holds the default there
};

// One per UC_TABLE, in section .uc.tables: a matrix of rows x cols numbers, filled by the program.
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
