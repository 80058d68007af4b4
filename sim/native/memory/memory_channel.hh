// The channel of a memory node, or of the cache before it: it carries one line after the other, in
// the order in which it is taken (M1.2, M1.3, M2.1).
#pragma once

#include <algorithm>

#include "time/time.hh"

namespace uncore {

class MemoryChannel {
 public:
  explicit MemoryChannel(Time busy) : busy_(busy) {}

  // Takes the channel for `busy`, as soon as it is free. Returns from when on.
  Time take(Time when) {
    const Time start = std::max(when, free_);
    free_ = start + busy_;
    return start;
  }

 private:
  Time busy_, free_ = 0;
};

}  // namespace uncore
