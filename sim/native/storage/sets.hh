// The sets of a cache, indexed by line number. Sets are allocated when first touched, in blocks of
// neighbours. So a cache of megabytes costs host memory only for the sets in use, and finding a set
// needs no hashing.
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

  // Returns the set of a line, by the line's number.
  Ways<Item>& set_of(uint64_t number) {
    const uint64_t set = index(number);
    std::unique_ptr<Block>& block = blocks_[set / kSetsPerBlock];
    if (!block) [[unlikely]]
      block = std::make_unique<Block>();
    return (*block)[set % kSetsPerBlock];
  }
  // Returns true if both lines belong to the same set.
  bool share_set(uint64_t a, uint64_t b) const {
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
