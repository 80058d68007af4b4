// The state of one hart in its core's locks and reservations (rules C6 and C7, core/locks.hh).
//
// Invariant: `next_try` is 0 unless the hart's pending access is an atomic that waits for a lock.
// The hart counts as executing while it waits (C6.3).
#pragma once

#include <cstdint>

#include "time/time.hh"

namespace uncore {

inline constexpr uint64_t kNoLine = ~uint64_t{0};

struct Reservation {
  uint64_t line = kNoLine;    // line that the hart's last LR has reserved
  uint64_t locked = kNoLine;  // line that the hart's last LR has locked
  Time stalls_from = 0;       // end of the wrs instruction in which the hart stalls (C7.1); 0: none
  Time next_try = 0;          // when the hart tries its atomic again, if a lock delays it; else 0
  bool restarts = false;      // the atomic has met the lock of another hart of the core (C6.5)
};

}  // namespace uncore
