// A flat memory that records the line of each hart's load-link.
//
// Invariant: a hart's reservation is for the line of its last load-link. It ends if another hart
// writes that line, or with the hart's own store-conditional.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/bytes.hh"

namespace uncore {

class DelayedMemory {
 public:
  explicit DelayedMemory(std::size_t harts) : reservations_(harts) {}

  uint64_t read(uint64_t address, unsigned size) {
    return bytes_of(address).read(address % kUnitBytes, size);
  }
  void write(std::size_t hart, uint64_t address, unsigned size, uint64_t value) {
    put(address, size, value);
    for (std::size_t other = 0; other < reservations_.size(); ++other)
      if (other != hart && reservations_[other] == address >> kUnitShift)
        reservations_[other].reset();
  }
  uint64_t load_link(std::size_t hart, uint64_t address, unsigned size) {
    reservations_[hart] = address >> kUnitShift;
    return read(address, size);
  }
  // Returns true if it wrote; false if it failed.
  bool store_conditional(std::size_t hart, uint64_t address, unsigned size, uint64_t value) {
    const bool reserved = reservations_[hart] == address >> kUnitShift;
    reservations_[hart].reset();
    if (reserved) write(hart, address, size, value);
    failures_ += !reserved;
    return reserved;
  }
  // Writes memory before the run, without ending reservations.
  void put(uint64_t address, unsigned size, uint64_t value) {
    bytes_of(address).write(address % kUnitBytes, size, value);
  }

  uint64_t failures() const { return failures_; }  // number of store-conditionals that failed

 private:
  Bytes bytes_of(uint64_t address) { return {lines_[address >> kUnitShift].data(), kUnitBytes}; }

  std::unordered_map<uint64_t, std::array<uint8_t, kUnitBytes>> lines_;
  std::vector<std::optional<uint64_t>> reservations_;  // lines, by hart
  uint64_t failures_ = 0;
};

}  // namespace uncore
