// Constants of Linux's user-space interface on riscv64 that several system calls share, with their
// names from include/uapi. The flags of a single call are defined next to that call.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>  // includes <sched.h> on some hosts, so it must precede the #undefs of its macros

// The host's headers may define these names as macros with the host's numbers.
#undef EPERM
#undef ENOENT
#undef ESRCH
#undef EINTR
#undef EBADF
#undef ENXIO
#undef EACCES
#undef EAGAIN
#undef ENOMEM
#undef EFAULT
#undef EBUSY
#undef EEXIST
#undef EXDEV
#undef ENODEV
#undef ENOTDIR
#undef EISDIR
#undef EINVAL
#undef EMFILE
#undef ENOTTY
#undef EFBIG
#undef ENOSPC
#undef ESPIPE
#undef EROFS
#undef EPIPE
#undef ERANGE
#undef ENAMETOOLONG
#undef ENOSYS
#undef ENOTEMPTY
#undef ELOOP
#undef EOVERFLOW
#undef EMSGSIZE
#undef ENOTSOCK
#undef EDESTADDRREQ
#undef EPROTOTYPE
#undef ENOPROTOOPT
#undef EPROTONOSUPPORT
#undef ESOCKTNOSUPPORT
#undef EOPNOTSUPP
#undef EAFNOSUPPORT
#undef EADDRINUSE
#undef EADDRNOTAVAIL
#undef ENETUNREACH
#undef ECONNRESET
#undef EISCONN
#undef ENOTCONN
#undef ECONNREFUSED
#undef ETIMEDOUT
#undef ETOOMANYREFS
#undef ENOBUFS

namespace uncore {

enum : int64_t {
  EPERM = 1,
  ENOENT = 2,
  ESRCH = 3,
  EINTR = 4,
  ENXIO = 6,
  EBADF = 9,
  EAGAIN = 11,
  ENOMEM = 12,
  EACCES = 13,
  EFAULT = 14,
  EBUSY = 16,
  EEXIST = 17,
  EXDEV = 18,
  ENODEV = 19,
  ENOTDIR = 20,
  EISDIR = 21,
  EINVAL = 22,
  EMFILE = 24,
  ENOTTY = 25,
  EFBIG = 27,
  ENOSPC = 28,
  ESPIPE = 29,
  EROFS = 30,
  EPIPE = 32,
  ERANGE = 34,
  ENAMETOOLONG = 36,
  ENOSYS = 38,
  ENOTEMPTY = 39,
  ELOOP = 40,
  EOVERFLOW = 75,
  ENOTSOCK = 88,
  EDESTADDRREQ = 89,
  EMSGSIZE = 90,
  EPROTOTYPE = 91,
  ENOPROTOOPT = 92,
  EPROTONOSUPPORT = 93,
  ESOCKTNOSUPPORT = 94,
  EOPNOTSUPP = 95,
  EAFNOSUPPORT = 97,
  EADDRINUSE = 98,
  EADDRNOTAVAIL = 99,
  ENETUNREACH = 101,
  ECONNRESET = 104,
  ENOBUFS = 105,
  EISCONN = 106,
  ENOTCONN = 107,
  ETOOMANYREFS = 109,
  ETIMEDOUT = 110,
  ECONNREFUSED = 111,
  // Never returned to a program. After a handler without SA_RESTART the program gets EINTR;
  // otherwise the call is repeated.
  ERESTARTSYS = 512,
};

enum : unsigned {
  SIGILL = 4,
  SIGTRAP = 5,
  SIGBUS = 7,
  SIGKILL = 9,
  SIGSEGV = 11,
  SIGPIPE = 13,
  SIGALRM = 14,
  SIGCHLD = 17,
  SIGCONT = 18,
  SIGSTOP = 19,
  SIGURG = 23,
  SIGVTALRM = 26,  // SIGPROF is the next number
  SIGWINCH = 28,
};

enum : int32_t {  // si_code
  SI_USER = 0,
  SI_KERNEL = 128,
  SI_TIMER = -2,
  SI_TKILL = -6,
  ILL_ILLOPC = 1,
  TRAP_BRKPT = 1,
  BUS_ADRALN = 1,
  BUS_ADRERR = 2,
  SEGV_MAPERR = 1,
  SEGV_ACCERR = 2,
};

enum : uint64_t { SIG_DFL = 0, SIG_IGN = 1 };  // values in place of a handler's address

}  // namespace uncore
