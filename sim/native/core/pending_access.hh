// The access that a hart waits for (rule H5, core/waiting.hh). Its `kind` is `none` if the hart
// waits for no access.
#pragma once

#include "core/access.hh"

namespace uncore {

struct PendingAccess : Access {
  // Value of `request` while a register of another core is being read (I4).
  static constexpr uint32_t kRegister = ~uint32_t{0};

  using Access::operator=;

  uint32_t request = 0;  // id of the far atomic in flight (C8), or kRegister; else 0
  Time since = 0;        // when it was issued
};

}  // namespace uncore
