// Error messages about a guest program that cannot continue.
#pragma once

#include <cstdint>
#include <string>

#include "hart/hart.hh"

namespace uncore {

inline std::string without_handler(uint64_t hart, const Fatal& fatal) {
  return "hart " + std::to_string(hart) + " trapped without a handler, cause " +
         std::to_string(fatal.cause);
}

inline std::string stack_overflow(uint64_t hart, uint64_t bytes) {
  return "hart " + std::to_string(hart) + ": stack overflow, of " + std::to_string(bytes) +
         " bytes";
}

}  // namespace uncore
