// The latencies of operations, from the beginning to the end of each as the guest marks them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uncore {

// A histogram of latencies. Buckets are at most 3 % wide; the count of each bucket is exact.
class Latencies {
 public:
  void add(uint64_t latency, uint64_t count) {
    // A bucket covers the latencies that have the same bit width and the same kBits highest bits.
    const int shift = std::max(0, static_cast<int>(std::bit_width(latency)) - kBits);
    counts_[static_cast<std::size_t>(shift) << kBits | latency >> shift] += count;
  }
  // Calls f(lower bound in ps, count) for every bucket in use, in ascending order.
  template <class F>
  void each(F f) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i]) f(uint64_t{i & ((1u << kBits) - 1)} << (i >> kBits), counts_[i]);
  }

 private:
  static constexpr int kBits = 6;
  std::vector<uint64_t> counts_ = std::vector<uint64_t>((64 - kBits + 1) << kBits);
};

}  // namespace uncore
