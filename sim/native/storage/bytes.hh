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
    const uint8_t* const from = at.data() + offset;
    switch (size) {
      case 8:
        return of<uint64_t>(from);
      case 4:
        return of<uint32_t>(from);
      case 2:
        return of<uint16_t>(from);
      case 1:
        return *from;
      default:
        uint64_t value = 0;
        std::memcpy(&value, from, size);
        return value;
    }
  }
  void write(unsigned offset, unsigned size, uint64_t value) {
    uint8_t* const to = at.data() + offset;
    switch (size) {
      case 8:
        std::memcpy(to, &value, 8);
        return;
      case 4:
        std::memcpy(to, &value, 4);
        return;
      default:
        std::memcpy(to, &value, size);
    }
  }

 private:
  template <class Word>
  static uint64_t of(const uint8_t* from) {
    Word value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
};

}  // namespace uncore
