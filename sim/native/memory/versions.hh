// Recent versions of each doubleword of memory, from which loads of a weakly ordered core may
// return older values (rule H8).
//
// Each block of 64 bytes has a log of changes, the newest last; each change has the value that it
// replaced. While a core holds a copy of a line, no other core can write it. So the log has all
// changes of the line up to the core's present time, even if other cores are far behind it or ahead
// of it in simulated time.
//
// Interface: change() is called before each write; at() and last_write() by a hart whose core holds
// the line. Invariant: all changes younger than `span` are kept; older ones may be dropped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "storage/bytes.hh"
#include "storage/line_map.hh"
#include "time/time.hh"

namespace uncore {

inline constexpr unsigned kWordBytes = 8;

class Versions {
 public:
  explicit Versions(Time span) : span_(span) {}

  // Logs the doublewords in [address, address + size), all of one line, before they are written.
  void change(uint64_t address, unsigned size, const Bytes& line, Time now) {
    std::vector<Change>& changes = changes_[address >> kUnitShift];
    const auto old = [&](const Change& c) { return c.when + span_ <= now; };
    changes.erase(changes.begin(), std::ranges::find_if_not(changes, old));
    for (uint64_t word = address / kWordBytes; word * kWordBytes < address + size; ++word)
      changes.push_back({now, word, line.read(line.offset(word * kWordBytes), kWordBytes)});
  }

  // Returns when a doubleword was written last; 0 if the log has no change of it.
  Time last_write(uint64_t word) const {
    for (const Change& c : std::views::reverse(changes_of(word)))
      if (c.word == word) return c.when;
    return 0;
  }

  struct Version {
    uint64_t value;
    Time since;
  };
  // Returns the value that a doubleword had at time `then`, and the time at which that value was
  // written. `value` is its present value.
  Version at(uint64_t word, uint64_t value, Time then) const {
    for (const Change& c : std::views::reverse(changes_of(word))) {
      if (c.word != word) continue;
      if (c.when <= then) return {value, c.when};
      value = c.before;
    }
    return {value, 0};
  }

 private:
  struct Change {
    Time when;
    uint64_t word, before;
  };
  std::span<const Change> changes_of(uint64_t word) const {
    const auto changes = changes_.find(word * kWordBytes >> kUnitShift);
    return changes == changes_.end() ? std::span<const Change>{} : std::span{changes->second};
  }

  const Time span_;
  LineMap<std::vector<Change>> changes_;  // key: the address divided by 64
};

}  // namespace uncore
