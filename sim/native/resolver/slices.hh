// The slices of a resolver: each serves one message after the other (R1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "time/time.hh"

namespace uncore {

class Slices {
 public:
  explicit Slices(std::size_t count) : free_(count, 0), busy_(count, 0) {}

  // Occupies a slice as soon as it is free; when the service is over.
  Time occupy(std::size_t slice, Time now, Time service) {
    const Time start = std::max(now, free_[slice]);
    busy_[slice] += service;
    return free_[slice] = start + service;
  }
  // The longest summed service time of a slice.
  Time busiest() const { return *std::ranges::max_element(busy_); }

 private:
  std::vector<Time> free_, busy_;
};

}  // namespace uncore
