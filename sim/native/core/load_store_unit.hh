// Performs a core's accesses, or leaves them pending (rules H1 and H3 to H5).
//
//   perform()       performs an access if that is possible now
//   stays_inside()  returns true if the access would touch only this core
//   apply()         performs it on a line that is ready
//   operate()       the part of apply() that reads or writes the line, and locks it
//   pre_execute()   executes ahead of a load that is left pending
//
// The rules that delay an access, and its effects on other harts, are in other classes: Stores,
// Locks, ContendedLines, FarAtomics, LoadsAhead. Invariant: an access that is left pending has
// changed nothing that its hart can see.
#pragma once

#include "core/lines.hh"
#include "core/thread.hh"
#include "hart/foreseen.hh"

namespace uncore {

class Core;

class LoadStoreUnit {
 public:
  explicit LoadStoreUnit(Core& core) : core_(core) {}

  // Returns true if the access has been performed, false if it stays pending.
  bool perform(Thread& thread, const Access& access, Time now, Outcome& out);
  // Returns true if the access would be performed at once and touch nothing outside the core.
  bool stays_inside(const Thread& thread, const Access& access, Time now);
  void apply(Thread& thread, const Access& access, Line& line, Time now, Outcome& out);
  void pre_execute(Thread& thread);
  void operate(Thread& thread, const Access& access, Line& line, Time now, Outcome& out);

 private:
  bool reach_register(Thread& thread, const Access& a, Time now, Outcome& out);
  bool load(Thread& thread, const Access& a, Time now, Outcome& out);
  bool atomic(Thread& thread, const Access& a, Time now, Outcome& out);
  bool fail_sc(Thread& thread, const Access& a, Time now, Outcome& out);
  // Returns what is known about a load that follows a waiting one. If the core lacks its line,
  // requests the line at time `at` (H9.2).
  ForeseenLoad foresee(Thread& thread, uint64_t address, unsigned size, Time at);
  bool in_cache(Thread& thread, const Access& a, Line* line, Time now, Outcome& out);

  Core& core_;
};

}  // namespace uncore
