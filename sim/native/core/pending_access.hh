// The access that a hart waits for (rule H5, core/waiting.hh).
#pragma once

#include "core/access.hh"

namespace uncore {

struct PendingAccess : Access {
  static constexpr uint32_t kRegister = ~uint32_t{0};  // a register is asked for: no request

  using Access::operator=;

  uint32_t request = 0;  // the number of its far atomic under way (C8), or kRegister
  Time since = 0;        // when it was issued
};

}  // namespace uncore
