// A core's accesses: performed now, or left pending (rules H1 and H3 to H5).
//
//   perform() an access, stays_inside() asks what it would touch; apply() it to a line that is
//   ready; operate() is the part of apply() that reads or writes the line, and locks it;
//   pre_execute() what stands behind a load that is left pending
//
// What keeps an access back, and what it does to others, are rules of their own: Stores, Locks,
// ContendedLines, FarAtomics, LoadsAhead. Invariant: an access that is left pending has changed
// nothing that its hart can see.
#pragma once

#include "core/lines.hh"
#include "core/thread.hh"
#include "hart/foreseen.hh"

namespace uncore {

class Core;

class LoadStoreUnit {
 public:
  explicit LoadStoreUnit(Core& core) : core_(core) {}

  // True: performed. False: it stays pending.
  bool perform(Thread& thread, const Access& access, Time now, Outcome& out);
  // Would the access touch nothing outside the core, and be performed at once?
  bool stays_inside(const Thread& thread, const Access& access, Time now);
  void apply(Thread& thread, const Access& access, Line& line, Time now, Outcome& out);
  void pre_execute(Thread& thread);
  void operate(Thread& thread, const Access& access, Line& line, Time now, Outcome& out);

 private:
  bool reach_register(Thread& thread, const Access& a, Time now, Outcome& out);
  bool load(Thread& thread, const Access& a, Time now, Outcome& out);
  bool atomic(Thread& thread, const Access& a, Time now, Outcome& out);
  bool fail_sc(Thread& thread, const Access& a, Time now, Outcome& out);
  // Returns what is known of a load behind one that waits. If its line is not here, asks for it at
  // `at` (H9.2).
  Foreseen foresee(Thread& thread, uint64_t address, unsigned size, Time at);
  bool in_cache(Thread& thread, const Access& a, Line* line, Time now, Outcome& out);

  Core& core_;
};

}  // namespace uncore
