// The system calls as functions of the kernel and the task that calls: its arguments are t.a[0] to
// t.a[5], what it finds in a0 is the value, errors below zero.
#pragma once

#include "os/kernel.hh"

namespace uncore::calls {

#define CALL(number, name) Work name(Kernel& k, Task& t);
#define LIFE CALL
#include "os/calls.def"
#undef CALL
#undef LIFE

// A timespec in ps on the hart's clock (time_calls.cc).
Work read_time(Kernel& k, Task& t, uint64_t from, uint64_t clock, bool relative, Time& then);

}  // namespace uncore::calls
