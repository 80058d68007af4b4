// A semihosting call: prints a text, or ends the run (UC_SYS_... of the guest's ABI).
//
// A memory may answer with a delay, so the caller reads memory for the call, one aligned doubleword
// at a time:
//
//     Semihosting call(hart.x[10], hart.x[11]);
//     while (call.reads()) call.take(doubleword at call.address());
//     hart.x[10] = call.answer;
//
// Invariant: `text` and `exit_code` hold what has been read so far. The environment may move the
// text out at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "uncore_abi.h"

namespace uncore {

class Semihosting {
 public:
  Semihosting(uint64_t call, uint64_t argument) {
    switch (call) {
      case UC_SYS_WRITE0:
        reading_ = ReadingState::text;
        next_ = argument;
        break;
      case UC_SYS_EXIT:
      case UC_SYS_EXIT_EXTENDED:  // a block of two words: the reason and the code
        reading_ = ReadingState::code;
        next_ = argument + 8;
        break;
      default:  // not supported, like GET_CMDLINE: parameters are in memory
        answer = ~uint64_t{0};
    }
  }

  bool reads() const { return reading_ != ReadingState::nothing; }
  uint64_t address() const { return next_ & ~uint64_t{7}; }
  void take(uint64_t doubleword) {
    do take_byte(static_cast<uint8_t>(doubleword >> 8 * (next_++ % 8)));
    while (reads() && next_ % 8 != 0);
  }

  std::string text;
  std::optional<uint64_t> exit_code;
  uint64_t answer = 0;

 private:
  enum class ReadingState : uint8_t { nothing, text, code };

  void take_byte(uint8_t byte) {
    if (reading_ == ReadingState::text) {
      if (byte == 0)
        reading_ = ReadingState::nothing;
      else
        text += static_cast<char>(byte);
      return;
    }
    code_ |= uint64_t{byte} << 8 * taken_++;
    if (taken_ < 8) return;
    exit_code = code_;
    reading_ = ReadingState::nothing;
  }

  ReadingState reading_ = ReadingState::nothing;
  uint64_t next_ = 0, code_ = 0;
  unsigned taken_ = 0;  // bytes of the code
};

}  // namespace uncore
