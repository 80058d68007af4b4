// The critical path of a run: the waits, one behind the other, that its rate hangs on. Shorten one
// of them and the run may be faster; any other wait passes beside it.
//
// It is a walk backwards along what each wait hung on (Yang and Miller, "Critical Path Analysis for
// the Execution of Parallel and Distributed Programs", 1988). A hart that polls a line waits for
// another's write: if there was one since the wait began, it hangs on that write, and on that
// hart's past. Any other wait hangs on the hart's own past. A hart that spins waits from when its
// copy is taken away.
//
// A path begins at the end of each hart, and counts as much as the hart's rate, operations by time.
// So paths of harts that hand a lock on run together into one, however many harts there are, and
// where no hart waits for another each has its own. Without operations there is no rate but the
// run's length, and the path is that of the last hart to end.
//
// Invariant: the waits of a path and what lies between them add up to the time from a hart's
// beginning to its end. walk() tells the waits of all paths as parts of length(), the run's.
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

  // The last write to a line.
  struct Write {
    uint32_t hart = 0;
    Point point{kNever, 0};
  };

  explicit CriticalPath(std::size_t harts) : harts_(harts), steps_(1) {}

  // A hart goes on at `now` after a wait for the line from `since` on. A hart that has woken may
  // only have read the line again, without a wait. `use`: the wait's row. `polls`: the hart has
  // waited in this row before, for the same operation.
  void waited(uint32_t hart, const Write& last, std::size_t use, bool polls, Time since, Time now) {
    Hart& h = harts_[hart];
    const Point* write = nullptr;
    if (h.woken) write = cause(hart, last, std::min(since, h.woken), now);
    if (polls && !write) write = cause(hart, last, since, now);
    if (!write && since == now) return;  // the hart slept because of another line
    h.last = add(write ? *write : Point{since, h.last}, use, now);
    h.woken = 0;
  }
  // A hart that slept in a loop (S1) wakes: its copy was taken away, or a sibling wrote the line.
  void woken(uint32_t hart, Time now) { harts_[hart].woken = std::max<Time>(now, 1); }
  bool has_woken(uint32_t hart) const { return harts_[hart].woken != 0; }

  // A store enters the buffer, and leaves it when the line has come.
  Point now(uint32_t hart, Time now) const { return {now, harts_[hart].last}; }
  void drained(uint32_t hart, Write& last, std::size_t use, Point entered, bool waits, Time now) {
    Hart& h = harts_[hart];
    if (h.drained.at > entered.at) entered = h.drained;
    h.drained = {now, add(entered, use, now)};
    last = {hart, h.drained};
    if (waits) h.last = h.drained.last;
  }
  void wrote(uint32_t hart, Write& last, Time now) const {
    last = {hart, {now, harts_[hart].last}};
  }

  // Excludes all time before `now`.
  void begins_at(Time now) { begin_ = now; }
  void began(uint32_t hart, Time now) {
    begin_ = std::min(begin_, now);
    Hart& h = harts_[hart];
    if (h.begun != kNever) return;
    h.begun = now;
    h.last = append({.begin = now, .end = now});
  }
  void operated(uint32_t hart, uint64_t operations) { harts_[hart].operations += operations; }
  void ended(uint32_t hart, Time now) {
    harts_[hart].end = {now, harts_[hart].last};
    if (now >= end_) last_ = hart, end_ = now;
  }

  Time length() const { return end_ > begin_ ? end_ - begin_ : 0; }
  // Calls f(use, time) for each wait on the paths, as a part of length().
  template <class F>
  void walk(F f) const {
    if (!length()) return;
    std::vector<uint64_t> weights(steps_.size());
    const Wide whole = weigh(weights);
    if (!whole) return;
    const auto unit = static_cast<uint64_t>((whole + length() - 1) / length());
    uint64_t rest = 0;
    for (Step s = 1; s < steps_.size(); ++s) {
      const Wait& wait = steps_[s];
      if (!weights[s] || wait.end <= begin_) continue;
      rest += weights[s] * (wait.end - std::max(wait.begin, begin_));
      if (rest >= unit) f(wait.use, rest / unit);
      rest %= unit;
    }
  }

 private:
  static constexpr uint64_t kWhole = 1 << 20;  // the weight of all paths
  __extension__ using Wide = unsigned __int128;

  // A wait on the path after the wait `parent`. A hart's beginning is a wait of no length, with
  // parent 0 (none).
  struct Wait {
    Step parent = 0;
    uint32_t use = 0;
    Time begin = 0, end = 0;
  };
  struct Hart {
    Step last = 0;
    Time woken = 0;   // when the hart woke, at the earliest 1; 0: it did not sleep
    Point drained{};  // the hart's youngest store that has left the buffer
    Time begun = kNever;
    uint64_t operations = 0;
    Point end{kNever, 0};
  };
  struct End {
    Time at;
    Step last;
    uint64_t weight;
  };

  // Returns the write of another hart that a wait since then hangs on; null: the wait hangs on the
  // hart's own past.
  static const Point* cause(uint32_t hart, const Write& last, Time since, Time now) {
    const bool since_then = last.point.at >= since && last.point.at <= now;
    return last.hart != hart && since_then ? &last.point : nullptr;
  }
  Step add(Point from, std::size_t use, Time now) {
    if (now == from.at) return from.last;
    return append({from.last, static_cast<uint32_t>(use), from.at, now});
  }
  Step append(Wait wait) {
    steps_.push_back(wait);
    return static_cast<Step>(steps_.size() - 1);
  }

  // Computes how much each step counts. Returns the weighted length of all paths.
  Wide weigh(std::vector<uint64_t>& weights) const {
    Wide whole = 0;
    for (const End& end : weighed()) {
      weights[end.last] += end.weight;
      whole += Wide{end.weight} * (end.at - std::min(begin_, end.at));
    }
    for (auto s = static_cast<Step>(steps_.size()); s-- > 1;) {
      const Wait& wait = steps_[s];
      if (!weights[s] || wait.end <= begin_) continue;
      if (wait.begin == wait.end) whole -= Wide{weights[s]} * (wait.begin - begin_);
      weights[wait.parent] += weights[s];
    }
    return whole;
  }
  // Returns the paths' ends, weighted by the harts' rates. The last hart's end gets what rounding
  // leaves over.
  std::vector<End> weighed() const {
    double rates = 0;
    for (const Hart& h : harts_) rates += rate(h);
    std::vector<End> ends;
    uint64_t left = kWhole;
    for (const Hart& h : harts_) {
      const double part = rates > 0 ? kWhole * (rate(h) / rates) : 0;
      const auto weight = std::min(left, static_cast<uint64_t>(part));
      if (weight) ends.push_back({h.end.at, h.end.last, weight}), left -= weight;
    }
    ends.push_back({end_, harts_[last_].end.last, left});
    return ends;
  }
  static double rate(const Hart& h) {
    if (h.end.at == kNever || h.end.at <= h.begun) return 0;
    return static_cast<double>(h.operations) / static_cast<double>(h.end.at - h.begun);
  }

  std::vector<Hart> harts_;
  std::vector<Wait> steps_;  // steps_[0] stands for none
  Time begin_ = kNever;
  uint32_t last_ = 0;  // the hart that ended last
  Time end_ = 0;       // when it did
};

}  // namespace uncore
