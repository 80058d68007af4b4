// The port's answer about a load that is pre-executed (preexecution.hh).
//
// Plain data, so that ports need not include the interpreter.
#pragma once

#include <cstdint>

namespace uncore {

struct ForeseenLoad {
  // unknown: the value is not known; value: the value is known; end: pre-execution stops at this
  // load.
  enum class What : uint8_t { unknown, value, end } what = What::unknown;
  uint64_t value = 0;  // zero-extended
};

}  // namespace uncore
