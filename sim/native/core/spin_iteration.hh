// The record of one iteration of a loop in which a hart seems to spin (rule S1, core/sleep.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace uncore {

struct SpinIteration {
  // the next iteration may take a different time: this one had an L2 lookup or a forwarded load
  bool varies = false;
  bool locks = false;             // the iteration locks the lines that it reads, by LRs
  std::vector<uint64_t> watched;  // numbers of the lines that the iteration reads

  void watch(uint64_t line) {
    if (!watches(line)) watched.push_back(line);
  }
  bool watches(uint64_t line) const { return std::ranges::count(watched, line) > 0; }
};

}  // namespace uncore
