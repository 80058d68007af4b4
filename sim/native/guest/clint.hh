// A hart's part of the CLINT, the core-local interruptor: MSIP and mtimecmp (rule I4).
//
// Interface: read(); write() returns the bit of mip that changes, and when the timer will expire.
// Times are values of mtime.
#pragma once

#include <cstdint>
#include <optional>

#include "guest/registers.hh"
#include "hart/csr.hh"

namespace uncore {

inline constexpr unsigned kSoftware = kMsi, kTimer = kMti, kExternal = kMei;

class Clint {
 public:
  struct Change {
    unsigned bit;
    bool level;
    std::optional<uint64_t> alarm{};  // time at which MTIP will be set if mtimecmp stays as it is
  };

  uint64_t mtimecmp() const { return mtimecmp_; }
  uint64_t read(Register::Kind kind) const {
    return kind == Register::Kind::msip ? msip_ : mtimecmp_;
  }
  Change write(Register::Kind kind, uint64_t value, uint64_t now) {
    if (kind == Register::Kind::msip) {
      msip_ = value & 1;
      return {kSoftware, msip_};
    }
    mtimecmp_ = value;
    if (value <= now) return {kTimer, true};
    return {kTimer, false, value};
  }

 private:
  bool msip_ = false;
  uint64_t mtimecmp_ = ~uint64_t{0};  // never
};

}  // namespace uncore
