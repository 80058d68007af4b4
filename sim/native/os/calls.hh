// The system calls, as functions of the system and the task that calls. The arguments are t.args[0]
// to t.args[5]; the value of the Work is what the program finds in a0, an error if it is negative.
//
// calls.def lists all of them; each is defined beside the object that it is about.
#pragma once

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore::calls {

#define CALL(number, name) Work name(Linux& os, Task& t);
#define PROGRESS CALL
#include "os/calls.def"
#undef CALL
#undef PROGRESS

// Reads a timespec at `from` as a time of the hart's clock in ps: `relative` to now, or a time of
// `clock`. Simulated time 0 is the beginning of 2026 on the clocks of day (K11, time_calls.cc).
constexpr uint64_t kClockRealtime = 0, kClockMonotonic = 1;
Work read_time(Linux& os, Task& t, uint64_t from, uint64_t clock, bool relative, Time& then);

// Reads the parts of a vector, `many` at `from` (file_calls.cc).
constexpr uint64_t kMostParts = 1024;  // UIO_MAXIOV
Work read_parts(Linux& os, Task& t, uint64_t from, uint64_t many, UserBuffers& parts);
// Gives the program two descriptors at `to`, or neither (pipe.cc).
Work give_pair(Linux& os, Task& t, OpenFileRef first, OpenFileRef second, uint64_t to);
// Has the call mask the set of signals at `from` while it lasts, if that is not null
// (poll_calls.cc).
Work mask_from(Linux& os, Task& t, uint64_t from, uint64_t size);
// Writes a timespec; with a `unit` of 1000 ns, a timeval.
Work put_time(Linux& os, Task& t, uint64_t ns, uint64_t to, uint64_t unit = 1);

}  // namespace uncore::calls
