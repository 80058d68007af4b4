// Rule S1: a hart that spins on lines in its core's cache sleeps instead of executing.
//
// While the hart sleeps, the lines that an iteration of its loop reads are *watched*. Before one of
// them is lost or written, the sleeper is advanced to the state that it would have after executing
// every iteration, and is woken. Siblings may execute meanwhile.
//
//   begin_recording(), then sleep()     called when a hart repeats an iteration
//   wake_watchers(), wake_lockers()     called before a line changes
//   advance_sleepers_if_read()          called before a set's least recently used line is chosen
//
// Invariant: a hart that slept cannot be distinguished from one that executed every iteration.
#pragma once

#include "core/context.hh"
#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class Sleep {
 public:
  explicit Sleep(Core& core) : core_(core) {}

  // Called when a hart repeats an iteration. Returns true if the hart must continue, because its
  // next iteration is recorded before it can sleep; false if its last iteration has been recorded.
  bool begin_recording(Thread& thread);
  // Puts a hart to sleep whose last iteration has been recorded, unless the L1 lacks a line that it
  // reads.
  void sleep(Thread& thread);
  void wake(Thread& sleeper, Time at) { wake_until(sleeper, last_time_before(at, 0, sleeper)); }
  // Wake harts that watch a line. wake_watchers() is called before the line changes; wake_lockers()
  // wakes only harts whose loop locks the line, before another hart or a probe may wait for that
  // lock. They are not inlined, because few accesses need them.
  [[gnu::noinline]] void wake_watchers(const Line& line, Time at);
  [[gnu::noinline]] void wake_lockers(const Line& line, Time at);
  void wake_all(Time at);  // called at the end of the run, to make clocks and counts exact
  // Advances all sleepers to `at` without waking them, if one of them reads a line in the same set
  // as this line.
  void advance_sleepers_if_read(uint64_t number, Time at);
  // Adapts the duration of the sleeper's iteration: from `at` on, each instruction takes the time
  // `instruction`, because of what the hart with index `causing_hart` does (H6.1). Wakes the
  // sleeper if it would begin or cease to count as pausing (H6.5), or if its loads hide latency
  // behind instructions (H10), so that the duration must be measured again.
  void change_period(Thread& sleeper, Time at, uint32_t causing_hart, Time instruction);

 private:
  static Time last_time_before(Time time, uint32_t hart, const Thread& sleeper);
  bool locks_alone(const Line& line) const;
  void advance(Thread& sleeper, Time horizon);
  void wake_until(Thread& sleeper, Time horizon);

  Core& core_;
};

}  // namespace uncore
