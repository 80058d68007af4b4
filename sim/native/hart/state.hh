// The state of a hart between two instructions, as plain data: registers, time, counts of executed
// instructions, and settings of the environment.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hart/instruction.hh"
#include "hart/port.hh"

namespace uncore {

// Times in the unit of HartState::clock, which the environment chooses.
struct Cost {
  uint64_t instruction = 1, mispredict = 0, pause = 1;
  // The time of a load that hits, if its hart waits for the value at the first use; 0: at the load.
  uint64_t load_to_use = 0;

  // Returns the part of this time that passes beside the instructions before the first use (H10).
  uint64_t hidden(unsigned instructions_before_use) const {
    return std::min(load_to_use, instructions_before_use * instruction);
  }
};

// Reasons why run() returned.
enum class Stop : uint8_t {
  horizon,  // the next instruction would start after the horizon
  later,    // the port answered `later`: call resume(), then run()
  retry,    // the port answered `retry`: the next run() executes the same instruction again
  wfi,      // asleep (pc is after the wfi) until wakes(); before that, run() returns wfi again
  // Stalls in a wrs.nto (pc is after it): call run() when the reservation is lost, or wakes().
  awaits,
  awaits_shortly,  // stalls in a wrs.sto: call run() as for `awaits`, or after a short time
  semihost,  // pc is at the srai of a semihosting call: read x[10] and x[11], set x[10], call run()
  spin,      // the guest spins: spin_period and the other spin_ fields are set
  pause,     // the last instruction was a pause with which the hart began to be `pausing`
  fatal,     // a trap without a handler: see HartState::fatal
  overflow,  // pc is at the instruction that would move the stack pointer past the end of the stack
};

// A trap that could not be delivered: its vector is 0 or outside RAM, its handler cannot be
// fetched, or the handler's first instruction raises an exception.
struct Fatal {
  uint64_t cause, tval, pc;
};

// The memory of a stack: `size` bytes from `end`, its lowest address. The stack pointer is checked
// only after it has once been at the top (`entered`).
struct Stack {
  uint64_t end = 0, size = 0;
  bool entered = false;
};

struct HartState {
  HartState() = default;
  HartState(const HartState&) = delete;
  HartState& operator=(const HartState&) = delete;

  // x[0] is always 0, x[kSink] receives the writes to x0, x[kFloat] is f0.
  uint64_t x[kRegisters] = {};
  uint64_t pc = 0;
  uint64_t clock = 0;
  uint64_t horizon = 0;  // run() stops before an instruction that would start with clock > horizon
  uint64_t instructions = 0, branches = 0,
           mispredicts = 0;  // retired; conditional branches; mispredicted ones
  uint64_t pauses = 0;       // number of pause instructions among `instructions`
  Cost cost;
  bool spin_enabled = true;
  // Set by the environment before each run() if no memory that this hart may read has changed since
  // the last run. Then an iteration of a waiting loop may span the two runs (for harts that share a
  // core).
  bool undisturbed = false;

  // `pausing`: the hart pauses for most of its time. The state begins with a pause instruction that
  // starts less than cost.pause after the end of the last one, and lasts until an instruction
  // starts at `pauses_until` or later; then the environment clears the flag. Both fields are
  // maintained only if the environment sets `reports_pauses`.
  bool pausing = false, reports_pauses = false;
  uint64_t pauses_until = 0;

  // Set by a load that hits, but not on the port's fast path, if the instructions before its first
  // use hide a part of its latency, so that it depends on their time; cleared by the environment.
  bool hides_latency = false;

  // One iteration of the spin loop: its duration and counts. Valid after Stop::spin.
  uint64_t spin_period = 0, spin_instructions = 0, spin_branches = 0, spin_mispredicts = 0,
           spin_pauses = 0;
  Fatal fatal = {};               // valid after Stop::fatal
  Stack stack;                    // the hart's own stack; if its size is 0, nothing is checked
  uint64_t ram_begin = kRamBase;  // addresses below belong to devices
  uint64_t unsplit_bytes = 64;  // an access within an aligned block of this many bytes is not split

  void retire(unsigned length, uint64_t duration) {
    pc += length;
    clock += duration;
    ++instructions;
  }
  // Accounts for a pause that ends at `end`. Returns true if the hart begins to be `pausing` with
  // this one.
  bool account_pause(uint64_t end) {
    const bool was_pausing = end - cost.pause < pauses_until;
    pauses_until = end + cost.pause;
    const bool begins = was_pausing && !pausing;
    pausing |= was_pausing;
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

// Destination of the value that an access returns: its registers, and the size in bytes from which
// it is sign-extended.
struct Landing {
  uint8_t rd = kSink, rd_high = kSink;
  uint8_t sign_size = 8, length = 4;
  uint8_t first = 0;  // number of bytes before the boundary, if the access crosses one; else 0
  uint64_t box = 0;   // bits that are set in addition (NaN boxing)
};

// The progress of the access of the instruction at pc.
struct AccessState {
  // The bytes that the first half of a split access has read. Size 0: it has not been performed.
  struct FirstHalf {
    uint64_t value = 0;
    uint8_t size = 0;
  };
  Landing landing;
  FirstHalf half;
  bool suspended = false;  // the port has answered `later`

  bool halfway() const { return half.size != 0; }
};

}  // namespace uncore
