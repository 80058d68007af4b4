// Rule S1: a hart that spins on lines it can read sleeps.
//
// While it sleeps those lines are *watched*: whoever takes one away or writes to it first brings
// the sleeper to where executing every turn would have brought it, and wakes it. Siblings may go on
// meanwhile.
//
//   records(), sleep() where a hart repeats itself; wake_watchers(), wake_lockers() before a line
//   changes; advance_readers() before a set is asked which line was used last
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

  // A hart repeats itself: its next turn is recorded, and it goes on. False: the last one was.
  bool records(Thread& thread);
  void sleep(Thread& thread);  // then, unless what it reads is not at hand
  void wake(Thread& sleeper, Time at) { wake_until(sleeper, before(at, 0, sleeper)); }
  // Before the line changes; before somebody may wait for a lock on it. What few accesses need is
  // kept out of all.
  [[gnu::noinline]] void wake_watchers(const Line& line, Time at);
  [[gnu::noinline]] void wake_lockers(const Line& line, Time at);
  void wake_all(Time at);  // at the end of the run: clocks and counts are exact
  // Brings the sleepers up to date and lets them sleep on: all of them, if one reads a line of a
  // set to which this line belongs.
  void advance_readers(uint64_t number, Time at);
  // An instruction takes `instruction` from `at` on; thread `by` has caused that (H6.1).
  void change_period(Thread& sleeper, Time at, uint32_t by, Time instruction);

 private:
  static Time before(Time at, uint32_t by, const Thread& sleeper);
  bool locks_alone(const Line& line) const;
  void advance(Thread& sleeper, Time horizon);
  void wake_until(Thread& sleeper, Time horizon);

  Core& core_;
};

}  // namespace uncore
