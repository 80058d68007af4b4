// A hash table by line number.
//
// Lines come in strides: a structure for each hart, a page for each thread. The table's buckets are
// the low bits of the hash, and std::hash of an integer is the integer, so that strides would
// collide; Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4) spreads them.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>

namespace uncore {

struct LineHash {
  std::size_t operator()(uint64_t line) const { return (line * 0x9E3779B97F4A7C15u) >> 32; }
};

template <class T>
using LineMap = tsl::robin_map<uint64_t, T, LineHash>;

}  // namespace uncore
