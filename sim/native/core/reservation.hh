// A hart's part in the locks and reservations of its core (rules C6 and C7, core/locks.hh).
//
// Invariant: `tries` is set only while the hart's pending access is an atomic; the hart counts as
// executing meanwhile (C6.3).
#pragma once

#include <cstdint>

#include "time/time.hh"

namespace uncore {

inline constexpr uint64_t kNoLine = ~uint64_t{0};

struct Reservation {
  uint64_t line = kNoLine;    // reserved by its last LR
  uint64_t locked = kNoLine;  // locked by its last LR
  Time stalls_from = 0;       // end of the wrs behind which its hart stalls (C7.1); 0: none
  Time tries = 0;             // when the hart tries again, if a lock kept it off; else 0
  bool restarts = false;      // it has met the lock of another hart of the core (C6.5)
};

}  // namespace uncore
