// The system calls, as functions of the system and of the task that makes the call. The arguments
// are t.args[0] to t.args[5]. The value of the Work is returned to the program in a0; a negative
// value is an error number.
//
// calls.def lists all calls. Each is defined in the file of the object that it works on.
#pragma once

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore::calls {

#define CALL(number, name) Work name(Linux& os, Task& t);
#define PROGRESS CALL
#include "os/calls.def"
#undef CALL
#undef PROGRESS

constexpr uint64_t kClockRealtime = 0, kClockMonotonic = 1;
// Reads a timespec at `from`, which is `relative` to now or an absolute time of `clock`, and sets
// `time` to this time on the hart's clock, in ps. On the realtime clock, simulated time 0 is the
// beginning of 2026, on the monotonic ones kUptime (K11, time_calls.cc).
Work read_time(Linux& os, Task& t, uint64_t from, uint64_t clock, bool relative, Time& time);
// Reads a timespec at `from` as a duration in ps.
Work read_duration(Linux& os, Task& t, uint64_t from, Time& duration);

constexpr uint64_t kMostParts = 1024;  // UIO_MAXIOV
// Reads an array of `count` iovecs at `from` (file_calls.cc).
Work read_parts(Linux& os, Task& t, uint64_t from, uint64_t count, UserBuffers& parts);
// Opens two descriptors, with O_CLOEXEC if `flags` has it, and writes them to `to`; on an error
// opens neither (pipe.cc).
Work give_pair(Linux& os, Task& t, OpenFileRef first, OpenFileRef second, uint64_t to,
               uint64_t flags);
// Returns false if a seal prevents this change of the file's rights (file_calls.cc).
bool may_change_mode(const Inode& inode, uint64_t mode);
// Returns a pipe's capacity in bytes. If `sets`, first sets it to `bytes`, rounded up to a power of
// two (F_SETPIPE_SZ). Returns -EBADF for a file that is no pipe (pipe.cc).
int64_t resize_pipe(const OpenFileRef& file, bool sets, uint32_t bytes);
// Replaces the signal mask by the set at `from` until the call ends. If `from` is null, the mask
// stays as it is (poll_calls.cc).
Work mask_from(Linux& os, Task& t, uint64_t from, uint64_t size);
// Writes `ns` to `to` as a timespec, or, with a `unit` of 1000 ns, as a timeval.
Work put_time(Linux& os, Task& t, uint64_t ns, uint64_t to, uint64_t unit = 1);

}  // namespace uncore::calls
