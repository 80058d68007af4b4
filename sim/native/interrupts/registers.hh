// The registers that harts have for each other, and where they are: as on QEMU's `virt` machine.
//
// MSIP[h] (bit 0: a software interrupt is pending) and mtimecmp[h] stand at hart h's core. A core
// reaches its own at once, another's by messages (rules I1 and I4). A machine with multicast has
// two registers more, each hart its own: a set of harts, and one that sends to all of them (rule
// I5).
#pragma once

#include <cstdint>
#include <optional>

#include "uncore_abi.h"

namespace uncore {

inline constexpr uint64_t kClint = UC_CLINT_BASE;
inline constexpr uint64_t kMtimecmp = UC_CLINT_BASE + UC_CLINT_MTIMECMP;
inline constexpr uint64_t kMtime = UC_CLINT_BASE + UC_CLINT_MTIME;
inline constexpr uint64_t kMulticastSet = UC_MULTICAST_BASE;
inline constexpr uint64_t kMulticastSend = UC_MULTICAST_BASE + UC_MULTICAST_SEND;
inline constexpr uint64_t kUart = UC_UART_BASE;

struct Register {
  enum class Kind : uint8_t { msip, mtimecmp, set, send };
  Kind kind = Kind::msip;
  uint32_t hart = 0;  // set: the number of its word
};

// The register at an address, where the job has so many harts.
constexpr std::optional<Register> register_at(uint64_t address, uint64_t harts, bool multicast) {
  if (address >= kClint && address < kClint + 4 * harts)
    return Register{Register::Kind::msip, static_cast<uint32_t>((address - kClint) / 4)};
  if (address >= kMtimecmp && address < kMtimecmp + 8 * harts)
    return Register{Register::Kind::mtimecmp, static_cast<uint32_t>((address - kMtimecmp) / 8)};
  if (multicast && address >= kMulticastSet && address < kMulticastSet + (harts + 63) / 64 * 8)
    return Register{Register::Kind::set, static_cast<uint32_t>((address - kMulticastSet) / 8)};
  if (multicast && address == kMulticastSend) return Register{Register::Kind::send, 0};
  return std::nullopt;
}

}  // namespace uncore
