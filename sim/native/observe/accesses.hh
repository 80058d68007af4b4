// Records the accesses of each hart of a weakly ordered core in program order, with the time at
// which other harts could observe each (rule H8). From this record engine/native/reordered.py finds
// accesses that were observed out of order. Recording does not change a run.
//
// Invariant: the newest kMaxAccesses accesses of each hart are kept.
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
    uint64_t number, pc, address;  // number: the hart's count of instructions at this access
    uint64_t size;
    bool reads, writes;
    Time seen;  // when other harts could observe the access; kNever: not yet
  };

  explicit Accesses(std::size_t harts) : by_hart_(harts) {}

  void note(uint32_t hart, const Access& access) {
    std::deque<Access>& all = by_hart_[hart];
    if (all.size() == kMaxAccesses) all.pop_front();
    all.push_back(access);
  }
  // Records that the store of instruction `number` has left the store buffer and is visible to
  // others.
  void seen(uint32_t hart, uint64_t number, Time when) {
    const auto entry = std::ranges::lower_bound(by_hart_[hart], number, {}, &Access::number);
    if (entry != by_hart_[hart].end() && entry->number == number) entry->seen = when;
  }

  const std::vector<std::deque<Access>>& of_harts() const { return by_hart_; }

 private:
  static constexpr std::size_t kMaxAccesses = 1 << 16;

  std::vector<std::deque<Access>> by_hart_;
};

}  // namespace uncore
