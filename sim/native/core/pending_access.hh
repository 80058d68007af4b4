// The access that a hart waits for (rule H5, core/waiting.hh). Its `kind` is `none` while there
// is none.
#pragma once

#include "core/access.hh"

namespace uncore {

struct PendingAccess : Access {
  // Stands for a request's number while another core's register is read (I4).
  static constexpr uint32_t kRegister = ~uint32_t{0};

  using Access::operator=;

  uint32_t request = 0;  // number of the far atomic under way (C8), or kRegister; else 0
  Time since = 0;        // when it was issued
};

}  // namespace uncore
