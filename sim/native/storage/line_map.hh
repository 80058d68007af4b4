// A hash table by line number.
//
// Programs touch lines at strides: a structure for each hart, a page for each thread. std::hash of
// an integer is the integer, and the low bits of the hash choose the bucket, so strides would
// collide. Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4) spreads them.
// Eight consecutive lines get consecutive buckets, so that a sequential pass over memory finds the
// next entry near the last one in the host's caches.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>

namespace uncore {

struct LineHash {
  static constexpr unsigned kBlockShift = 3;  // log2 of the lines that stay together
  std::size_t operator()(uint64_t line) const {
    const uint64_t block = (line >> kBlockShift) * 0x9E3779B97F4A7C15u >> 32;
    return block << kBlockShift | (line & ((1u << kBlockShift) - 1));
  }
};

template <class T>
using LineMap = tsl::robin_map<uint64_t, T, LineHash>;

}  // namespace uncore
