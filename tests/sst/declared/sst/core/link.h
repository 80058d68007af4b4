// Declares links and their times; see component.h.
#pragma once

#include <cstdint>

#include "event.h"

namespace SST {

using SimTime_t = uint64_t;

class TimeConverter {};

class Link {
 public:
  void send(SimTime_t delay, Event* event);
};

}  // namespace SST
