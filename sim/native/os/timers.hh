// The timers of each hart (K8): those of sleeping tasks, the process's interval timer, and alarms.
//
// Interface: arm() and disarm() a task's timer; next() is when the earliest timer of a hart is due,
// take_due() takes one that is due; set_interval() and repeat_interval() are for the interval
// timer; add(), set(), repeat() (when it is due) and remove() are for an alarm. Invariant: a task
// has at most one timer, and only the scheduler writes the hart's timer register.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "os/work.hh"
#include "time/time.hh"

namespace uncore {

class Linux;

// A timer other than a sleeping task's, such as a timerfd. It interrupts the hart that set it last.
struct Alarm {
  virtual ~Alarm() = default;
  // Called when the alarm is due, after it has been taken off its hart's timers.
  virtual Work expire(Linux& os, Flow& by, uint32_t hart) = 0;

  uint32_t id = 0;  // assigned by Timers::add()
  Time due = kNever, period = 0;
  uint32_t hart = 0;
};

class Timers {
 public:
  // Numbers that stand in place of a tid: for the interval timer, and for alarms from kFirstAlarm
  // on.
  static constexpr uint32_t kProcess = 0, kFirstAlarm = 1u << 20;

  struct Interval {  // ITIMER_REAL
    Time due = kNever, period = 0;
    uint32_t hart = 0;  // the hart that it interrupts
  };

  explicit Timers(std::size_t harts) : armed_(harts) {}

  void arm(uint32_t hart, Time due, uint32_t tid) {
    if (due != kNever) armed_[hart].insert({due, tid});
  }
  void disarm(uint32_t hart, Time due, uint32_t tid) { armed_[hart].erase({due, tid}); }
  Time next(uint32_t hart) const {
    return armed_[hart].empty() ? kNever : armed_[hart].begin()->first;
  }
  // Takes the earliest timer if it is due, and returns its tid.
  std::optional<uint32_t> take_due(uint32_t hart, Time now) {
    if (next(hart) > now || armed_[hart].empty()) return std::nullopt;
    return armed_[hart].extract(armed_[hart].begin()).value().second;
  }

  void add(const std::shared_ptr<Alarm>& alarm) {
    alarm->id = next_alarm_++;
    alarms_[alarm->id] = alarm;
  }
  void remove(const Alarm& alarm) {
    disarm(alarm.hart, alarm.due, alarm.id);
    alarms_.erase(alarm.id);
  }
  std::shared_ptr<Alarm> alarm(uint32_t id) const {
    const auto found = alarms_.find(id);
    return found == alarms_.end() ? nullptr : found->second.lock();
  }
  // Sets an alarm to the time `due` and the period `period`; kNever switches it off.
  void set(Alarm& alarm, uint32_t hart, Time due, Time period) {
    disarm(alarm.hart, alarm.due, alarm.id);
    alarm.hart = hart, alarm.due = due, alarm.period = period;
    arm(hart, due, alarm.id);
  }
  // Sets an alarm that was due to its next time. Returns how often it has expired up to now.
  uint64_t repeat(Alarm& alarm, Time now) {
    const uint64_t expirations = alarm.period ? 1 + (now - alarm.due) / alarm.period : 1;
    const Time last = alarm.due + (expirations - 1) * alarm.period;
    set(alarm, alarm.hart, alarm.period ? later(last, alarm.period) : kNever, alarm.period);
    return expirations;
  }

  const Interval& interval() const { return interval_; }
  void set_interval(const Interval& interval) {
    disarm(interval_.hart, interval_.due, kProcess);
    interval_ = interval;
    arm(interval_.hart, interval_.due, kProcess);
  }
  // Sets the interval timer, which was due on this hart, to its next time.
  void repeat_interval(uint32_t hart) {
    const Time next = interval_.period ? later(interval_.due, interval_.period) : kNever;
    set_interval({next, interval_.period, hart});
  }

 private:
  std::vector<std::set<std::pair<Time, uint32_t>>>
      armed_;  // for each hart: its armed timers, as pairs of time and tid
  Interval interval_;
  std::map<uint32_t, std::weak_ptr<Alarm>> alarms_;
  uint32_t next_alarm_ = kFirstAlarm;
};

}  // namespace uncore
