// A hart's store buffer: stores and posted far atomics (C8.5) that have executed but are not yet
// globally visible, oldest first. An entry's index is the number of entries that are older.
//
// Interface: push(), head(), remove(); search() for a load, holds() a line. The classes of
// core/stores.hh decide the order in which entries leave. Invariant: an entry never crosses the end
// of a line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/access.hh"

namespace uncore {

struct Store {
  uint64_t address, line;  // the line's number
  uint64_t value;
  uint8_t size;
  Access atomic{};  // the posted atomic (C8.5, H8.10); if its kind is `none`, the entry is a store
  uint32_t request = 0;  // id of the atomic's request, once it has been sent
  bool done = false;     // the resolver has performed the atomic
  // Fields used only in a weakly ordered core (weak.hh):
  uint32_t group = 0;   // a fence from W to W separates groups (H8.1)
  Time leaves = 0;      // the store does not leave before this time (H8.1)
  Time view = 0;        // latest view of the store's registers (H8.7)
  uint64_t number = 0;  // number of the store's instruction in the hart's count of retired ones

  bool is_atomic() const { return atomic.kind != Access::Kind::none; }
  // Returns the offset of the store's first byte in the line.
  unsigned offset() const { return static_cast<unsigned>(address - (line << kUnitShift)); }
};

// Entries that have left stay at the front of the vector until all have left or its capacity is
// used up. So removal is cheap, and the next store is written to memory that is in the host's
// caches.
class StoreBuffer {
 public:
  enum class Match : uint8_t { nothing, value, conflict };

  bool empty() const { return stores_.empty(); }
  std::size_t size() const { return stores_.size() - num_removed_; }
  const Store& head() const { return stores_[num_removed_]; }
  void push(const Store& s) {
    if (stores_.size() == stores_.capacity()) compact();
    stores_.push_back(s);
  }
  Store& operator[](std::size_t older) { return stores_[num_removed_ + older]; }
  void remove(std::size_t older) {
    if (older > 0)
      stores_.erase(stores_.begin() + static_cast<std::ptrdiff_t>(num_removed_ + older));
    else if (++num_removed_ == stores_.size())
      compact();
  }

  // Looks for the youngest store that overlaps the load. `value`: the store covers the load and
  // provides its value. `conflict`: the store covers only a part, or is an atomic, so the load
  // waits until it has left the buffer.
  Match search(uint64_t address, unsigned size, uint64_t& value) const {
    for (std::size_t index = stores_.size(); index > num_removed_; --index) {
      const Store& s = stores_[index - 1];
      if (address + size <= s.address || s.address + s.size <= address) continue;
      if (s.is_atomic()) return Match::conflict;
      if (address < s.address || s.address + s.size < address + size) return Match::conflict;
      const unsigned shift = static_cast<unsigned>(address - s.address) * 8;
      value = s.value >> shift & (size == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * size) - 1);
      return Match::value;
    }
    return Match::nothing;
  }

  bool holds(uint64_t line) const {
    return std::ranges::any_of(entries(), [&](const Store& s) { return s.line == line; });
  }
  bool has_atomics() const { return std::ranges::any_of(entries(), &Store::is_atomic); }
  std::span<Store> entries() { return std::span(stores_).subspan(num_removed_); }
  std::span<const Store> entries() const { return std::span(stores_).subspan(num_removed_); }

 private:
  // Drops the entries that have left.
  void compact() {
    stores_.erase(stores_.begin(), stores_.begin() + static_cast<std::ptrdiff_t>(num_removed_));
    num_removed_ = 0;
  }

  std::vector<Store> stores_;
  std::size_t num_removed_ = 0;  // number of entries, at the front, that have left
};

}  // namespace uncore
