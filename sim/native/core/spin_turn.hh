// The turn of a loop that a hart seems to repeat, while it is recorded (rule S1, core/sleep.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace uncore {

struct SpinTurn {
  bool varies = false;            // it may not take as long as the next
  bool locks = false;             // in it the hart locks what it reads, by LRs
  std::vector<uint64_t> watched;  // lines that it has read

  void watch(uint64_t line) {
    if (!watches(line)) watched.push_back(line);
  }
  bool watches(uint64_t line) const { return std::ranges::count(watched, line) > 0; }
};

}  // namespace uncore
