// Timers by hart (K8): those of sleeping tasks, and the process's interval timer.
//
// Interface: arm() and disarm() for a task; next() of a hart, take_due() one after the other; the
// interval timer by set_interval() and repeat_interval(). Invariant: a task has one timer at most,
// and the scheduler alone writes the hart's timer register.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "time/time.hh"

namespace uncore {

class Timers {
 public:
  static constexpr uint32_t kProcess = 0;  // in place of a tid: the interval timer

  struct Interval {  // ITIMER_REAL
    Time at = kNever, every = 0;
    uint32_t hart = 0;  // the hart that it interrupts
  };

  explicit Timers(std::size_t harts) : armed_(harts) {}

  void arm(uint32_t hart, Time at, uint32_t tid) {
    if (at != kNever) armed_[hart].insert({at, tid});
  }
  void disarm(uint32_t hart, Time at, uint32_t tid) { armed_[hart].erase({at, tid}); }
  Time next(uint32_t hart) const {
    return armed_[hart].empty() ? kNever : armed_[hart].begin()->first;
  }
  // Takes the first timer that is due, and returns its tid.
  std::optional<uint32_t> take_due(uint32_t hart, Time now) {
    if (next(hart) > now || armed_[hart].empty()) return std::nullopt;
    return armed_[hart].extract(armed_[hart].begin()).value().second;
  }

  const Interval& interval() const { return interval_; }
  void set_interval(const Interval& interval) {
    disarm(interval_.hart, interval_.at, kProcess);
    interval_ = interval;
    arm(interval_.hart, interval_.at, kProcess);
  }
  // The interval timer has expired on this hart.
  void repeat_interval(uint32_t hart) {
    const Time next = interval_.every ? interval_.at + interval_.every : kNever;
    set_interval({next, interval_.every, hart});
  }

 private:
  std::vector<std::set<std::pair<Time, uint32_t>>> armed_;  // by hart: when, whose tid
  Interval interval_;
};

}  // namespace uncore
