// The words of Linux that the kernel and its calls share: error numbers, signals, flags, as in
// include/uapi of Linux 6.x for riscv64.
#pragma once

#include <cstdint>

namespace uncore {

inline constexpr int64_t kNotPermitted = -1;
inline constexpr int64_t kNoEntry = -2;
inline constexpr int64_t kNoProcess = -3;
inline constexpr int64_t kInterrupted = -4;
inline constexpr int64_t kBadDescriptor = -9;
inline constexpr int64_t kAgain = -11;
inline constexpr int64_t kNoMemory = -12;
inline constexpr int64_t kFault = -14;
inline constexpr int64_t kNotADirectory = -20;
inline constexpr int64_t kIsADirectory = -21;
inline constexpr int64_t kInvalid = -22;
inline constexpr int64_t kTooManyFiles = -24;
inline constexpr int64_t kNoTerminal = -25;
inline constexpr int64_t kIllegalSeek = -29;
inline constexpr int64_t kReadOnly = -30;
inline constexpr int64_t kRange = -34;
inline constexpr int64_t kNoCall = -38;
inline constexpr int64_t kTimedOut = -110;

enum Signal : unsigned {
  kIllegal = 4,
  kTrap = 5,
  kAbort = 6,
  kBusError = 7,
  kKill = 9,
  kSegmentationViolation = 11,
  kAlarm = 14,
  kChild = 17,
  kContinue = 18,
  kStop = 19,
  kUrgent = 23,
  kWindow = 28,
};

}  // namespace uncore
