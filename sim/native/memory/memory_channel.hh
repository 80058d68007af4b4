// The channel of a memory node, or of its memory-side cache. It transfers one line at a time, in
// the order in which take() is called (M1.2, M1.3, M2.1).
#pragma once

#include <algorithm>

#include "time/time.hh"

namespace uncore {

class MemoryChannel {
 public:
  explicit MemoryChannel(Time busy) : transfer_time_(busy) {}

  // Occupies the channel for `busy`, from `when` or from when it is free. Returns the start.
  Time take(Time when) {
    const Time start = std::max(when, free_at_);
    free_at_ = start + transfer_time_;
    return start;
  }

 private:
  Time transfer_time_, free_at_ = 0;
};

}  // namespace uncore
