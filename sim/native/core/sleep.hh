// Rule S1: a hart that spins on lines it can read sleeps.
//
// While it sleeps those lines are *watched*: whoever takes one away or writes to it first brings
// the sleeper to where executing every turn would have brought it, and wakes it. Siblings may go on
// meanwhile.
//
//   spun() where a hart repeats itself; wake_watchers(), wake_lockers() before a line changes;
//   advance_readers() before a set is asked which line was used last
//
// Invariant: nobody can tell a hart that slept from one that executed every turn.
#pragma once

#include "core/lines.hh"
#include "core/surroundings.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class Sleep {
 public:
  explicit Sleep(Core& core) : core_(core) {}

  void spun(Thread& thread);
  void wake(Thread& sleeper, Time at) { wake_until(sleeper, before(at, 0, sleeper)); }
  void wake_watchers(const Line& line, Time at);  // it is about to change
  void wake_lockers(const Line& line, Time at);   // somebody may wait for the end of a lock
  void wake_all(Time at);                         // what they did until then can be read now
  // The same, but they sleep on: all, if one of them reads a line of the sets where this belongs.
  void advance_readers(uint64_t number, Time at);
  // An instruction takes another time from `at` on, through thread `by`.
  void change_period(Thread& sleeper, Time at, uint32_t by, Time instruction);

 private:
  static Time before(Time at, uint32_t by, const Thread& sleeper);
  bool locks_alone(const Line& line) const;
  void advance(Thread& sleeper, Time horizon);
  void wake_until(Thread& sleeper, Time horizon);

  Core& core_;
};

}  // namespace uncore
