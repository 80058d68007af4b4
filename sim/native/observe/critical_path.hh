// The critical path of a run: the waits, one behind the other, that lead from the first hart's
// beginning to the last hart's end. Shorten one of them and the run may end earlier; any other wait
// passes beside it.
//
// It is a walk from the end along what each wait hung on (Yang and Miller, "Critical Path Analysis
// for the Execution of Parallel and Distributed Programs", 1988). A hart that waits for a line
// hangs on its own past, unless another hart wrote the line after the wait began: then on that
// write, and on that hart's past. A hart that spins waits from when its copy is taken away.
//
// Invariant: the path's waits and what lies between them add up to the time from beginning to end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "time/queue.hh"

namespace uncore {

class CriticalPath {
 public:
  using Step = uint32_t;
  // A point of the path of a hart, or of a store that has left it.
  struct Point {
    Time at;
    Step last;  // the wait that came before; 0: none
  };

  // The last one to a line.
  struct Write {
    uint32_t hart = 0;
    Point point{kNever, 0};
  };

  explicit CriticalPath(std::size_t harts) : harts_(harts), steps_(1) {}

  // A hart goes on at `now`, having waited for the line since then, or, where it has woken, having
  // looked at it at least; `use` is its row.
  void waited(uint32_t hart, const Write& last, std::size_t use, Time since, Time now) {
    Hart& h = harts_[hart];
    const Point* write = cause(hart, last, h.woken ? std::min(since, h.woken) : since, now);
    if (!write && since == now) return;  // what it slept for is on another line
    h.last = add(write ? *write : Point{since, h.last}, use, now);
    h.woken = 0;
  }
  // It slept in a loop (S1), and its copy was taken away, or a sibling wrote the line.
  void woken(uint32_t hart, Time now) { harts_[hart].woken = std::max<Time>(now, 1); }
  bool has_woken(uint32_t hart) const { return harts_[hart].woken != 0; }

  // A store enters the buffer, and leaves it when the line has come.
  Point now(uint32_t hart, Time now) const { return {now, harts_[hart].last}; }
  void drained(uint32_t hart, Write& last, std::size_t use, Point entered, bool waits, Time now) {
    Hart& h = harts_[hart];
    if (h.drained.at > entered.at) entered = h.drained;
    const Point* write = cause(hart, last, entered.at, now);
    entered.last = add(write ? *write : entered, use, now);
    h.drained = {now, entered.last};
    last = {hart, h.drained};
    if (waits) h.last = entered.last;
  }
  void wrote(uint32_t hart, Write& last, Time now) const {
    last = {hart, {now, harts_[hart].last}};
  }

  void begins_at(Time now) { begin_ = now; }
  void begins(Time now) { begin_ = std::min(begin_, now); }
  void ends(uint32_t hart, Time now) {
    if (now >= end_.at) end_ = {now, harts_[hart].last};
  }

  Time length() const { return end_.at > begin_ ? end_.at - begin_ : 0; }
  // Calls f(use, time) for each wait on the path.
  template <class F>
  void walk(F f) const {
    for (Step s = end_.last; s && steps_[s].end > begin_; s = steps_[s].parent)
      f(steps_[s].use, std::min(steps_[s].end, end_.at) - std::max(steps_[s].begin, begin_));
  }

 private:
  struct Wait {
    Step parent = 0;
    uint32_t use = 0;
    Time begin = 0, end = 0;
  };
  struct Hart {
    Step last = 0;
    Time woken = 0;   // since when it would have waited; 0: it did not sleep
    Point drained{};  // its youngest store that has left the buffer
  };

  // Another hart's write that a wait since then hangs on; null: it hangs on the hart itself.
  static const Point* cause(uint32_t hart, const Write& last, Time since, Time now) {
    const bool since_then = last.point.at >= since && last.point.at <= now;
    return last.hart != hart && since_then ? &last.point : nullptr;
  }
  Step add(Point from, std::size_t use, Time now) {
    if (now == from.at) return from.last;
    steps_.push_back({from.last, static_cast<uint32_t>(use), from.at, now});
    return static_cast<Step>(steps_.size() - 1);
  }

  std::vector<Hart> harts_;
  std::vector<Wait> steps_;  // the first stands for none
  Time begin_ = kNever;
  Point end_{};
};

}  // namespace uncore
