// The bytes of a line, and the line size of a machine (A2): 64, 128 or 256 bytes.
//
// A line's number is its address divided by 64, whatever the line size. So the address follows from
// the number alone, and only code that maps an address to its line needs the size (LineSize).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>

namespace uncore {

inline constexpr unsigned kUnitBytes = 64;  // size of the smallest line
inline constexpr unsigned kUnitShift = 6;

// Maps addresses to lines for code that is compiled for lines of 64 bytes.
struct UnitLines {
  static uint64_t number(uint64_t address) { return address >> kUnitShift; }
  static unsigned offset(uint64_t address) { return address % kUnitBytes; }
};

class LineSize {
 public:
  explicit LineSize(unsigned bytes)
      : offset_mask_(bytes - 1),
        line_mask_(~offset_mask_),
        shift_(static_cast<unsigned>(std::countr_zero(bytes)) - kUnitShift) {}

  unsigned bytes() const { return static_cast<unsigned>(offset_mask_) + 1; }
  // Returns true if a line has more than one unit of 64 bytes.
  bool has_several_units() const { return shift_ > 0; }
  uint64_t number(uint64_t address) const { return (address & line_mask_) >> kUnitShift; }
  unsigned offset(uint64_t address) const { return static_cast<unsigned>(address & offset_mask_); }
  // Returns the line's ordinal: its address divided by the line size. Neighbouring lines have
  // neighbouring ordinals.
  uint64_t ordinal(uint64_t number) const { return number >> shift_; }
  // Returns a mask of the 64ths of a line that contain these bytes. Observers track accesses within
  // a line at this resolution.
  uint64_t parts(unsigned offset, unsigned size) const {
    const unsigned first = offset >> shift_, last = (offset + size - 1) >> shift_;
    return ((uint64_t{2} << (last - first)) - 1) << first;
  }

 private:
  uint64_t offset_mask_;  // bits of an address that are its offset in the line
  uint64_t line_mask_;    // the other bits, which are the address of the line
  unsigned shift_;
};

// A reference to a line's bytes, which it does not own. Copying it does not copy the bytes.
struct Bytes {
  uint8_t* at = nullptr;
  unsigned size = 0;  // bytes of the line

  uint64_t read(unsigned offset, unsigned bytes) const {
    const uint8_t* const from = at + offset;
    switch (bytes) {
      case 8:
        return word_at<uint64_t>(from);
      case 4:
        return word_at<uint32_t>(from);
      case 2:
        return word_at<uint16_t>(from);
      case 1:
        return *from;
      default:
        uint64_t value = 0;
        std::memcpy(&value, from, bytes);
        return value;
    }
  }
  void write(unsigned offset, unsigned bytes, uint64_t value) const {
    uint8_t* const to = at + offset;
    switch (bytes) {
      case 8:
        std::memcpy(to, &value, 8);
        return;
      case 4:
        std::memcpy(to, &value, 4);
        return;
      default:
        std::memcpy(to, &value, bytes);
    }
  }
  // Returns the offset of an address in the line.
  unsigned offset(uint64_t address) const { return static_cast<unsigned>(address & (size - 1)); }
  // Copies the bytes that `from` refers to into this line, unless `from` is empty.
  void fill(const Bytes& from) const {
    if (!from.at) [[unlikely]]
      return;
    const uint8_t* unit = from.at;
    uint8_t *to = at, *const end = at + size;
    do {  // a line has at least one unit
      std::memcpy(to, unit, kUnitBytes);
      unit += kUnitBytes;
    } while ((to += kUnitBytes) < end);
  }

 private:
  template <class Word>
  static uint64_t word_at(const uint8_t* from) {
    Word value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
};

// A line's bytes in memory of its own. The memory is allocated at the first assignment; every
// assignment copies the bytes.
class KeptBytes : public Bytes {
 public:
  KeptBytes() = default;
  explicit KeptBytes(const Bytes& from) { *this = from; }
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes& from) { return *this = static_cast<const Bytes&>(from); }
  KeptBytes& operator=(const Bytes& from) {
    if (!from.at) [[unlikely]]
      return *this;
    if (size != from.size) [[unlikely]]
      make(from.size);
    if (at != from.at) fill(from);
    return *this;
  }

 private:
  [[gnu::noinline]] void make(unsigned bytes) {
    kept_ = std::make_unique<uint8_t[]>(bytes);
    at = kept_.get();
    size = bytes;
  }

  std::unique_ptr<uint8_t[]> kept_;
};

}  // namespace uncore
