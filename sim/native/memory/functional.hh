// Functional memory: accesses the newest bytes at once, without messages and without time, as
// gem5's functional accesses do. It is used to fetch instructions, by the services for guests, and
// to read results at the end. Any agent may have the newest bytes, so the class that knows all
// agents implements this interface (engine/newest_bytes.hh).
#pragma once

#include <cstddef>
#include <cstdint>

#include "hart/port.hh"
#include "time/time.hh"

namespace uncore {

class FunctionalMemory {
 public:
  explicit FunctionalMemory(uint64_t size) : size_(size) {}
  virtual ~FunctionalMemory() = default;

  virtual void read(uint64_t address, std::size_t size, uint8_t* to) = 0;
  // Writes bytes of one line into all its copies, as if they had always been there. Wakes harts
  // that sleep until the line changes.
  virtual void write(uint64_t address, std::size_t size, const uint8_t* from, Time now) = 0;

  // Returns whether all of these bytes are RAM.
  bool mapped(uint64_t address, unsigned size) const { return address - kRamBase + size <= size_; }
  // Reads four bytes; bytes outside RAM are zero. Returns false if even the first two are outside.
  bool fetch(uint64_t address, uint32_t& word) {
    if (address < kRamBase || !mapped(address, 2)) return false;
    word = 0;
    read(address, mapped(address, 4) ? 4 : 2, reinterpret_cast<uint8_t*>(&word));
    return true;
  }
  uint64_t doubleword(uint64_t address) {
    uint64_t value = 0;
    read(address, sizeof value, reinterpret_cast<uint8_t*>(&value));
    return value;
  }

 private:
  const uint64_t size_;
};

}  // namespace uncore
