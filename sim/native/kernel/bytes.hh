// A line's bytes.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace uncore {

inline constexpr unsigned kLineBytes = 64;
inline constexpr unsigned kLineShift = 6;

struct Bytes {
  alignas(8) std::array<uint8_t, kLineBytes> at{};

  uint64_t read(unsigned offset, unsigned size) const {
    uint64_t value = 0;
    std::memcpy(&value, at.data() + offset, size);
    return value;
  }
  void write(unsigned offset, unsigned size, uint64_t value) {
    std::memcpy(at.data() + offset, &value, size);
  }
};

}  // namespace uncore
