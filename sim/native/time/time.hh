// Time: integer picoseconds (docs/model.md).
#pragma once

#include <cstdint>

namespace uncore {

using Time = uint64_t;
inline constexpr Time kNever = ~Time{0};

// Returns `at` + `by`, or kNever if that overflows.
constexpr Time later(Time at, Time by) { return by < kNever - at ? at + by : kNever; }

}  // namespace uncore
