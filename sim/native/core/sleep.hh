// Rule S1: a hart that spins on lines which its core can read sleeps.
//
// While the hart sleeps, the lines that an iteration of its loop reads are
// *watched*: whoever takes one away or writes to it first brings the sleeper to where executing
// every iteration would have brought it, and wakes it. Siblings may go on meanwhile.
//
//   begin_recording(), sleep() when a hart repeats itself; wake_watchers(), wake_lockers() before a
//   line changes; advance_readers() before a set is asked for its least recently used line
//
// Invariant: nobody can tell a hart that slept from one that executed every iteration.
#pragma once

#include "core/context.hh"
#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class Sleep {
 public:
  explicit Sleep(Core& core) : core_(core) {}

  // Called when a hart repeats itself. Returns true if its next iteration has to be recorded before
  // it can sleep, so that it goes on; false if its last iteration has been recorded.
  bool begin_recording(Thread& thread);
  // Puts a hart to sleep whose last iteration has been recorded, unless a line that it reads is
  // missing.
  void sleep(Thread& thread);
  void wake(Thread& sleeper, Time at) { wake_until(sleeper, before(at, 0, sleeper)); }
  // Wake the harts that watch a line: wake_watchers() before the line changes, wake_lockers() those
  // that lock it before somebody may wait for a lock on it. Not inlined, because few accesses need
  // them.
  [[gnu::noinline]] void wake_watchers(const Line& line, Time at);
  [[gnu::noinline]] void wake_lockers(const Line& line, Time at);
  void wake_all(Time at);  // called at the end of the run, to make clocks and counts exact
  // Brings all sleepers up to date, and lets them sleep on, if one of them reads a line that shares
  // a set with this line.
  void advance_readers(uint64_t number, Time at);
  // Adapts the sleeper's period: an instruction takes `instruction` from `at` on, because of what
  // thread `by` does (H6.1). Wakes it if it now pauses less, or more, of its time.
  void change_period(Thread& sleeper, Time at, uint32_t by, Time instruction);

 private:
  static Time before(Time at, uint32_t by, const Thread& sleeper);
  bool locks_alone(const Line& line) const;
  void advance(Thread& sleeper, Time horizon);
  void wake_until(Thread& sleeper, Time horizon);

  Core& core_;
};

}  // namespace uncore
