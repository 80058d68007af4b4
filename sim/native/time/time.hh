// Time: integer picoseconds (docs/model.md).
#pragma once

#include <cstdint>

namespace uncore {

using Time = uint64_t;
inline constexpr Time kNever = ~Time{0};

// That much later; kNever where it is beyond all time.
constexpr Time later(Time at, Time by) { return by < kNever - at ? at + by : kNever; }

}  // namespace uncore
