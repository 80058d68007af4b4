// Accesses by the harts of weakly ordered cores, in program order, and the time at which others saw
// each (rule H8). engine/native/reordered.py finds in them what was seen out of order. A run with
// and without this record does the same.
//
// Invariant: the newest kMaxAccesses of each hart are kept.
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
    uint64_t number, pc, address;  // number: its instruction's, counted by the hart
    uint64_t size;
    bool reads, writes;
    Time seen;  // kNever: not yet
  };

  explicit Accesses(std::size_t harts) : of_(harts) {}

  void note(uint32_t hart, const Access& access) {
    std::deque<Access>& all = of_[hart];
    if (all.size() == kMaxAccesses) all.pop_front();
    all.push_back(access);
  }
  // The store of instruction `number` has left the buffer.
  void seen(uint32_t hart, uint64_t number, Time when) {
    const auto entry = std::ranges::lower_bound(of_[hart], number, {}, &Access::number);
    if (entry != of_[hart].end() && entry->number == number) entry->seen = when;
  }

  const std::vector<std::deque<Access>>& of_harts() const { return of_; }

 private:
  static constexpr std::size_t kMaxAccesses = 1 << 16;

  std::vector<std::deque<Access>> of_;
};

}  // namespace uncore
