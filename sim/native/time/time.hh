// Time: integer picoseconds (docs/model.md).
#pragma once

#include <cstdint>

namespace uncore {

using Time = uint64_t;
inline constexpr Time kNever = ~Time{0};

// Returns `time` + `by`, or kNever if that overflows.
constexpr Time later(Time time, Time by) { return by < kNever - time ? time + by : kNever; }

}  // namespace uncore
