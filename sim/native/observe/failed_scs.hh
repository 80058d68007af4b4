// Counts failed SCs: all of the run, and by line those since the guest's last operation. If a guest
// makes no progress, the lines show the reason (uncore.engine.outcome).
#pragma once

#include <cstdint>

#include "storage/line_map.hh"
#include "time/time.hh"

namespace uncore {

class FailedScs {
 public:
  // Counts a failed SC. `progress`: when the guest's last operation was; `counted`: the SC is in
  // the measured part of the run.
  void failed(uint64_t line, Time progress, bool counted) {
    total_ += counted;
    if (since_ != progress) by_line_.clear();
    since_ = progress;
    ++by_line_[line];
  }
  uint64_t all() const { return total_; }
  bool any_since(Time progress) const { return !by_line_.empty() && since_ == progress; }
  const LineMap<uint64_t>& by_line() const { return by_line_; }

 private:
  uint64_t total_ = 0;
  Time since_ = 0;
  LineMap<uint64_t> by_line_;
};

}  // namespace uncore
