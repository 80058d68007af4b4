// The sets of a cache, by the number of a line. They are made when touched, a few neighbours at a
// time: a cache of megabytes costs what is used of it, and a set is found without hashing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/bytes.hh"
#include "storage/ways.hh"

namespace uncore {

template <class Item>
class Sets {
 public:
  Sets(LineSize size, uint32_t count)
      : size_(size),
        count_(count),
        power_of_two_(std::has_single_bit(count)),
        blocks_((count + kSetsPerBlock - 1) / kSetsPerBlock) {}

  Ways<Item>& of(uint64_t number) {
    const uint64_t set = index(number);
    std::unique_ptr<Block>& block = blocks_[set / kSetsPerBlock];
    if (!block) [[unlikely]]
      block = std::make_unique<Block>();
    return (*block)[set % kSetsPerBlock];
  }
  bool together(uint64_t a, uint64_t b) const {
    if (power_of_two_) return ((size_.ordinal(a) ^ size_.ordinal(b)) & (count_ - 1)) == 0;
    return index(a) == index(b);
  }

 private:
  static constexpr std::size_t kSetsPerBlock = 16;
  using Block = std::array<Ways<Item>, kSetsPerBlock>;

  uint64_t index(uint64_t number) const {
    const uint64_t line = size_.ordinal(number);
    return power_of_two_ ? line & (count_ - 1) : line % count_;
  }

  const LineSize size_;
  const uint32_t count_;
  const bool power_of_two_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace uncore
