// The system calls as functions of the system and the task that calls: its arguments are t.args[0]
// to t.args[5], what it finds in a0 is the value, errors below zero.
//
// calls.def lists them all; each stands beside the object that it is about.
#pragma once

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore::calls {

#define CALL(number, name) Work name(Linux& os, Task& t);
#define PROGRESS CALL
#include "os/calls.def"
#undef CALL
#undef PROGRESS

// A timespec in ps on the hart's clock, `relative` to now; of a clock of day, less the beginning of
// that (time_calls.cc).
constexpr uint64_t kClockRealtime = 0, kClockMonotonic = 1;
Work read_time(Linux& os, Task& t, uint64_t from, uint64_t clock, bool relative, Time& then);

}  // namespace uncore::calls
