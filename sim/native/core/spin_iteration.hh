// One iteration of the loop that a hart seems to repeat, as it is being recorded (rule S1,
// core/sleep.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace uncore {

struct SpinIteration {
  bool varies = false;            // the next may take a different time: a lookup, a forwarded load
  bool locks = false;             // the hart locks what it reads, by LRs
  std::vector<uint64_t> watched;  // numbers of the lines that the iteration reads

  void watch(uint64_t line) {
    if (!watches(line)) watched.push_back(line);
  }
  bool watches(uint64_t line) const { return std::ranges::count(watched, line) > 0; }
};

}  // namespace uncore
