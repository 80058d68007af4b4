// The access that a hart waits for (rule H5, core/waiting.hh). Its `kind` is `none` while there
// is none.
#pragma once

#include "core/access.hh"

namespace uncore {

struct PendingAccess : Access {
  // In place of a request's number: another core's register is read (I4).
  static constexpr uint32_t kRegister = ~uint32_t{0};

  using Access::operator=;

  uint32_t request = 0;  // its far atomic under way (C8), or kRegister; 0: nothing is
  Time since = 0;        // when it was issued
};

}  // namespace uncore
