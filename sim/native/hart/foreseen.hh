// The answer of a port about a load before it is executed (preexecution.hh).
//
// Invariant: plain data; nothing is included but integers.
#pragma once

#include <cstdint>

namespace uncore {

struct Foreseen {
  // end: nothing behind this load is to be looked at.
  enum class What : uint8_t { unknown, value, end } what = What::unknown;
  uint64_t value = 0;  // zero-extended
};

}  // namespace uncore
