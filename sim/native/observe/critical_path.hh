// The critical path of a run: the chain of waits that determines its rate. Shortening one of these
// waits may make the run faster; shortening any other wait does not.
//
// The path is found by walking backwards from each wait to its cause (Yang and Miller, "Critical
// Path Analysis for the Execution of Parallel and Distributed Programs", 1988). A hart that polls
// waits for another hart to write the bytes that it polls. If there was such a write since the hart
// looked at them last, the path continues at that write, in the writer's past; from any other wait
// it continues in the hart's own past. A hart that sleeps in a spin loop (S1) looked at the line
// last when its copy was invalidated.
//
// There is one path from the end of each hart, weighted by the hart's rate (operations per time).
// Paths of harts that pass a lock to each other merge into one, however many harts there are; harts
// that never wait for each other have separate paths. If the program marks no operations, there is
// only the path from the end of the hart that ended last.
//
// Invariant: the waits on a path and the times between them add up to the time from a hart's
// beginning to its end. walk() scales the waits on all paths to length(), the length of the run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "time/queue.hh"

namespace uncore {

class CriticalPath {
 public:
  using Step = uint32_t;
  // A point on a path: a time in the past of a hart, or of a store that waits in its store buffer.
  struct Point {
    Time at;
    Step last;  // the last wait before that time; 0: none
  };

  // The last writes to a line, of different bytes.
  class Writes {
   public:
    void note(uint32_t hart, uint64_t bytes, Point point);
    // Returns the last write of any of the bytes until `now`, if another hart than `reader` made it
    // at `since` or later, because then that hart caused the wait. Else returns null.
    const Point* cause(uint32_t reader, uint64_t bytes, Time since, Time now) const;

   private:
    struct Write {
      uint64_t bytes = 0;  // a mask (LineSize::parts); 0: none
      Point point{0, 0};
      uint32_t hart = 0;
    };
    static constexpr std::size_t kKept = 4;  // older ones are forgotten
    std::array<Write, kKept> kept_{};
  };

  explicit CriticalPath(std::size_t harts) : harts_(harts), steps_(1) {}

  // A wait of a hart for bytes of a line, from `since` on. If it ends at `since`, the hart has just
  // woken and has only read the line again. `looked`: when the hart looked at them last, if it
  // polls; else kNever.
  struct Waiting {
    std::size_t use;  // the wait's row in Uses
    uint64_t bytes;
    Time since, looked;
  };
  // Records that a hart continues at `now` after it has waited.
  void waited(uint32_t hart, const Writes& writes, const Waiting& wait, Time now);
  // Records that a hart that slept in a spin loop (S1) wakes, because its copy was invalidated or a
  // sibling wrote the line.
  void woken(uint32_t hart, Time now) { harts_[hart].woken = std::max<Time>(now, 1); }
  bool has_woken(uint32_t hart) const { return harts_[hart].woken != 0; }

  // now() returns the point at which a store enters the store buffer; drained() records that it
  // leaves.
  Point now(uint32_t hart, Time now) const { return {now, harts_[hart].last}; }
  struct Drain {
    std::size_t use;
    uint64_t bytes;
    Point entered;
    bool waits;  // the hart was stalled until then
  };
  void drained(uint32_t hart, Writes& writes, const Drain& drain, Time now);
  void wrote(uint32_t hart, Writes& writes, uint64_t bytes, Time now) const {
    writes.note(hart, bytes, {now, harts_[hart].last});
  }

  // Excludes all time before `now` from the paths.
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
    if (now >= end_) last_hart_ = hart, end_ = now;
  }

  Time length() const { return end_ > begin_ ? end_ - begin_ : 0; }
  // Calls f(use, time) for each wait on the paths. The times are scaled, so that all paths together
  // are length() long.
  template <class F>
  void walk(F f) const {
    if (!length()) return;
    std::vector<uint64_t> weights(steps_.size());
    const Wide total = weigh(weights);
    if (!total) return;
    const auto unit = static_cast<uint64_t>((total + length() - 1) / length());
    uint64_t remainder = 0;
    for (Step s = 1; s < steps_.size(); ++s) {
      const Wait& wait = steps_[s];
      if (!weights[s] || wait.end <= begin_) continue;
      remainder += weights[s] * (wait.end - std::max(wait.begin, begin_));
      if (remainder >= unit) f(wait.use, remainder / unit);
      remainder %= unit;
    }
  }

 private:
  static constexpr uint64_t kTotalWeight = 1 << 20;  // the sum of the weights of all paths
  __extension__ using Wide = unsigned __int128;

  // A wait; `parent` is the wait before it on the path. The beginning of a hart is recorded as a
  // wait of length 0 whose parent is 0 (none).
  struct Wait {
    Step parent = 0;
    uint32_t use = 0;
    Time begin = 0, end = 0;
  };
  struct Hart {
    Step last = 0;
    Time woken = 0;   // when the hart woke, at least 1; 0: it has not slept since its last wait
    Point drained{};  // when the hart's last store left its store buffer
    Time begun = kNever;
    uint64_t operations = 0;
    Point end{kNever, 0};
  };
  struct End {
    Time at;
    Step last;
    uint64_t weight;
  };

  Step add(Point from, std::size_t use, Time now) {
    if (now == from.at) return from.last;
    return append({from.last, static_cast<uint32_t>(use), from.at, now});
  }
  Step append(Wait wait) {
    steps_.push_back(wait);
    return static_cast<Step>(steps_.size() - 1);
  }

  // Computes the weight of each step: the sum of the weights of the paths that contain it. Returns
  // the weighted length of all paths.
  Wide weigh(std::vector<uint64_t>& weights) const;
  // Returns the ends of the paths, weighted by the harts' rates. The hart that ended last also gets
  // the weight that is left over from rounding.
  std::vector<End> weighted_ends() const;
  static double rate(const Hart& h);

  std::vector<Hart> harts_;
  std::vector<Wait> steps_;  // steps_[0] is a placeholder for "none"
  Time begin_ = kNever;
  uint32_t last_hart_ = 0;  // the hart that ended last
  Time end_ = 0;            // when that hart ended
};

}  // namespace uncore
