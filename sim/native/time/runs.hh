// A tournament tree of the times at which cores execute next. Each node has the earliest time of
// the leaves below it.
//
// A core has one such time, which changes with nearly every run of the core. A heap would cost
// several times as much when all cores are pending, and would contain outdated entries.
//
// Interface: set(), at() and next_time(); next() returns the core that executes next, on ties the
// lowest core (T2.1).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "time/time.hh"

namespace uncore {

class Runs {
 public:
  explicit Runs(std::size_t cores) : first_(first_leaf(cores)), earliest_(2 * first_, kNever) {}

  Time next_time() const { return earliest_[1]; }
  Time at(uint32_t core) const { return earliest_[first_ + core]; }
  uint32_t next() const {
    std::size_t node = 1;
    while (node < first_) node = 2 * node + (earliest_[2 * node + 1] < earliest_[2 * node]);
    return static_cast<uint32_t>(node - first_);
  }
  // Returns the number of levels of the tree above `cores` leaves, which is the length of
  // `distances` below.
  static std::size_t levels(std::size_t cores) {
    return static_cast<std::size_t>(std::countr_zero(first_leaf(cores)));
  }
  // Returns the earliest time at which an action of another core can affect this one. distances[l]
  // is the least latency to this core from the cores below the sibling of its l-th ancestor; the
  // 0-th ancestor is the core's own leaf.
  Time next_time(uint32_t core, const std::vector<Time>& distances) const {
    Time least = kNever;
    std::size_t node = first_ + core;
    for (const Time distance : distances) {
      least = std::min(least, later(earliest_[node ^ 1], distance));
      node /= 2;
    }
    return least;
  }
  // Sets the time at which the core executes next; kNever if it has nothing to execute.
  void set(uint32_t core, Time when) {
    std::size_t node = first_ + core;
    if (earliest_[node] == when) return;
    earliest_[node] = when;
    for (Time least = when; node > 1;) {
      least = std::min(least, earliest_[node ^ 1]);
      node /= 2;
      if (earliest_[node] == least) return;
      earliest_[node] = least;
    }
  }

 private:
  static std::size_t first_leaf(std::size_t cores) {
    return std::bit_ceil(std::max<std::size_t>(cores, 2));
  }

  std::size_t first_;  // index of the first leaf
  std::vector<Time> earliest_;
};

}  // namespace uncore
