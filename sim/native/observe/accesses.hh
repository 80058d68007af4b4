// What harts of weakly ordered cores did, in the order of their programs, and when it was seen
// (rule H8): from it follows what was seen out of order (engine/native/reordered.py). Decides
// nothing.
//
// Invariant: of each hart the newest kMost are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "time/time.hh"

namespace uncore {

class Accesses {
 public:
  struct Access {
    uint64_t number, pc, address;  // number: of its instruction, in the hart
    uint64_t size;
    bool reads, writes;
    Time seen;  // kNever: not yet
  };

  explicit Accesses(std::size_t harts) : of_(harts) {}

  void note(uint32_t hart, const Access& access) {
    std::deque<Access>& all = of_[hart];
    if (all.size() == kMost) all.pop_front();
    all.push_back(access);
  }
  // A store has left the buffer.
  void seen(uint32_t hart, uint64_t number, Time when) {
    const auto entry = std::ranges::lower_bound(of_[hart], number, {}, &Access::number);
    if (entry != of_[hart].end() && entry->number == number) entry->seen = when;
  }

  const std::vector<std::deque<Access>>& of_harts() const { return of_; }

 private:
  static constexpr std::size_t kMost = 1 << 16;

  std::vector<std::deque<Access>> of_;
};

}  // namespace uncore
