// The slices of a resolver: each serves one message at a time (R1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "time/time.hh"

namespace uncore {

class Slices {
 public:
  explicit Slices(std::size_t count) : slices_(count) {}

  // Occupies a slice for `service`, from when it is free. Returns the end of the service.
  Time occupy(std::size_t slice, Time now, Time service) {
    Slice& s = slices_[slice];
    s.busy += service;
    return s.free_at = std::max(now, s.free_at) + service;
  }
  // Returns the time for which the busiest slice has been occupied so far.
  Time max_busy_time() const { return std::ranges::max(slices_, {}, &Slice::busy).busy; }

 private:
  struct Slice {
    Time free_at = 0, busy = 0;
  };
  std::vector<Slice> slices_;
};

}  // namespace uncore
