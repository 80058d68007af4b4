// The timers of each hart (K8): of tasks that wake, and of the process's interval timer.
//
// Interface: arm() and disarm() for a task; next() of a hart, take_due() one after the other. The
// hart's timer register is the scheduler's.
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
    uint32_t hart = 0;  // that it interrupts
  };

  explicit Timers(std::size_t harts) : armed_(harts) {}

  void arm(uint32_t hart, Time at, uint32_t tid) {
    if (at != kNever) armed_[hart].insert({at, tid});
  }
  void disarm(uint32_t hart, Time at, uint32_t tid) { armed_[hart].erase({at, tid}); }
  Time next(uint32_t hart) const {
    return armed_[hart].empty() ? kNever : armed_[hart].begin()->first;
  }
  // The tid of the first that is due, which is armed no longer.
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
  // It has expired on this hart.
  void repeat_interval(uint32_t hart) {
    const Time next = interval_.every ? interval_.at + interval_.every : kNever;
    set_interval({next, interval_.every, hart});
  }

 private:
  std::vector<std::set<std::pair<Time, uint32_t>>> armed_;  // by hart: when, whose tid
  Interval interval_;
};

}  // namespace uncore
