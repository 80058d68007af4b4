// Time: integer picoseconds (docs/model.md).
#pragma once

#include <cstdint>

namespace uncore {

using Time = uint64_t;
inline constexpr Time kNever = ~Time{0};

}  // namespace uncore
