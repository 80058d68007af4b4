// Rule H5: harts that wait for memory, and the events that end their waits.
//
//   begin_wait()      called when an access was left pending
//   retry_waiters()   called when a line has arrived
//   complete()        called when a value has arrived
//   attempt()         performs a pending access if that is possible now
//
// Invariant: accesses that wait for a line are performed in the order of H5.1, except those that a
// lock or a holder delays (H5.2).
#pragma once

#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class Waiting {
 public:
  explicit Waiting(Core& core) : core_(core) {}

  // Called when the hart's access could not be performed. `causing_hart` is the index of the hart
  // that causes this, as for Turns::share_issue().
  void begin_wait(Thread& thread, Time now, uint32_t causing_hart);
  void attempt(Thread& thread, Time now);
  void retry_waiters(uint64_t number, Time now);
  // Stalls the hart in the wrs instruction that it has just executed (C7.1). `shortly`: it is a
  // wrs.sto.
  void begin_stall(Thread& thread, bool shortly);
  // Ends the hart's stall in a wrs instruction, if there is one. The hart counts as executing from
  // its next instruction on.
  void end_stall(Thread& thread, Time now);
  // Completes the hart's pending access with its value: that of a register, or the old value that a
  // far atomic has read.
  void complete(Thread& thread, Pair value, Time now);

 private:
  Thread* next_waiter(uint64_t number, const Thread* previous) const;
  void resume(Thread& thread, Pair value, Time now);

  Core& core_;
};

}  // namespace uncore
