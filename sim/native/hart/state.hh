// The state of a hart between two instructions, as plain data: its registers, its time, its counts
// of what it has executed, and what an environment sets.
#pragma once

#include <cstdint>

#include "hart/instruction.hh"
#include "hart/port.hh"

namespace uncore {

// Times in the unit of HartState::clock, which the environment chooses.
struct Cost {
  uint64_t instruction = 1, mispredict = 0, pause = 1;
};

// Reasons why run() returned.
enum class Stop : uint8_t {
  horizon,  // the next instruction would start after the horizon
  later,    // the port answered `later`: call resume(), then run()
  retry,    // the port answered `retry`: the next run() executes the same instruction again
  wfi,      // asleep (pc is behind the wfi) until wakes(); run() before that returns wfi again
  awaits,   // in a wrs.nto (pc is behind it): run() when the reservation is lost, or wakes()
  awaits_shortly,  // in a wrs.sto: run() as for `awaits`, or when a short time is over
  semihost,        // pc at the srai of a semihosting call: read x[10], x[11], set x[10], run()
  spin,            // the guest repeats itself: spin_period and its companions are set
  pause,           // the last instruction was a pause with which the hart began to be `pausing`
  fatal,           // a trap that has no handler: see HartState::fatal
  overflow,  // pc at the instruction that would move the stack pointer past the end of the stack
};

// A trap that could not be delivered: its vector is 0 or outside RAM, the handler cannot be
// fetched, or its first instruction raises the next exception.
struct Fatal {
  uint64_t cause, tval, pc;
};

// The memory of a stack: `size` bytes from `end`, its lowest address. The stack pointer is not
// checked until it has first been at the top (`entered`).
struct Stack {
  uint64_t end = 0, size = 0;
  bool entered = false;
};

struct HartState {
  HartState() = default;
  HartState(const HartState&) = delete;
  HartState& operator=(const HartState&) = delete;

  // x[0] is always 0, x[kSink] swallows writes to it, x[kFloat] is f0.
  uint64_t x[kRegisters] = {};
  uint64_t pc = 0;
  uint64_t clock = 0;
  uint64_t horizon = 0;  // run() stops before an instruction that would start with clock > horizon
  uint64_t instructions = 0, branches = 0,
           mispredicts = 0;  // retired; conditional branches; mispredicted ones
  uint64_t pauses = 0;       // of the instructions
  Cost cost;
  bool spin_enabled = true;
  // Set by the environment before each run() if nothing that this hart may read has changed since
  // the last run, so that an iteration of a waiting loop may span the two (harts that share a
  // core).
  bool undisturbed = false;

  // Does it pause for most of its time? It does from a pause that begins within cost.pause of the
  // last one's end, until an instruction begins at `pauses_until` or later: the environment then
  // clears the flag. Neither is kept unless the environment sets `reports_pauses`.
  bool pausing = false, reports_pauses = false;
  uint64_t pauses_until = 0;

  // A period of the loop, valid after Stop::spin.
  uint64_t spin_period = 0, spin_instructions = 0, spin_branches = 0, spin_mispredicts = 0,
           spin_pauses = 0;
  Fatal fatal = {};         // valid after Stop::fatal
  Stack stack;              // its own stack; if its size is 0, nothing is checked
  uint64_t ram = kRamBase;  // addresses below belong to devices
  uint64_t whole = 64;      // an access within an aligned block of so many bytes is a single access

  void retire(unsigned length, uint64_t duration) {
    pc += length;
    clock += duration;
    ++instructions;
  }
  // Accounts for a pause that ends at `end`. Returns true if the hart pauses from its start on.
  bool account_pause(uint64_t end) {
    const bool again = end - cost.pause < pauses_until;
    pauses_until = end + cost.pause;
    const bool begins = again && !pausing;
    pausing |= again;
    return begins;
  }
  bool ceases_to_pause() const { return pausing && clock >= pauses_until; }
  // Accounts for a straight line of instructions that have retired by `now`.
  void account(uint64_t bytes, uint64_t now, uint64_t retired) {
    pc += bytes;
    clock = now;
    instructions += retired;
  }
};

// Destination of an access's answer: the registers, and from how many bytes it is sign-extended.
struct Landing {
  uint8_t rd = kSink, rd_high = kSink;
  uint8_t sign_size = 8, length = 4;
  uint8_t first = 0;  // bytes before the boundary, if the access crosses one
  uint64_t box = 0;   // bits that are set as well (NaN boxing)
};

// The access of the instruction at pc, as far as it has come.
struct AccessState {
  // The bytes that the first access of two has read. Size 0: there was none.
  struct Half {
    uint64_t value = 0;
    uint8_t size = 0;
  };
  Landing landing;
  Half half;
  bool suspended = false;  // the port has answered `later`

  bool halfway() const { return half.size != 0; }
};

}  // namespace uncore
