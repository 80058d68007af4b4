// The memory-mapped registers below RAM, at the addresses that QEMU's `virt` machine uses.
//
// MSIP[h] (bit 0: a software interrupt is pending) and mtimecmp[h] are hart h's part of the CLINT
// (clint.hh); mtime is shared by all harts. The UART has only a transmitter and a line status,
// which always says that the transmitter is empty. On a machine with multicast each hart has two
// more registers: a set of harts, and a register whose store interrupts all harts of the set (rule
// I5). A kernel finds a complete UART instead, an APLIC, and the interrupt files of an IMSIC
// (uart.hh, aplic.hh, imsic.hh).
//
// One more register for each hart is only used by the firmware (sbi/firmware.hh): a read of hart
// h's register makes hart h perform the remote fence that the reading hart has requested.
//
// Interface: register_at() returns the register at an address, access_device() performs an access.
#pragma once

#include <cstdint>
#include <optional>

#include "hart/port.hh"
#include "uncore_abi.h"

namespace uncore {

inline constexpr uint64_t kFenceRegisters = 0x02100000;

struct Register {
  enum class Kind : uint8_t { msip, mtimecmp, mtime, uart, set, send, fence, file, aplic, serial };
  Kind kind = Kind::msip;
  uint32_t index = 0;  // msip, mtimecmp, file, fence: the hart; set: the word; others: the byte

  // Returns the hart at whose core the register is.
  constexpr uint32_t hart() const {
    return kind == Kind::aplic || kind == Kind::serial ? 0 : index;
  }

  // Returns whether an access at the register's own core may send an interrupt.
  constexpr bool interrupts_others() const { return kind == Kind::aplic || kind == Kind::serial; }
  // Returns whether this access interrupts a hart. Such an access is a message, even to the hart's
  // own core (rule I1).
  constexpr bool interrupts(bool write, uint64_t value) const {
    return write &&
           (kind == Kind::send || kind == Kind::file || (kind == Kind::msip && (value & 1)));
  }
};

// Returns the register at an address, for a job with `harts` harts.
constexpr std::optional<Register> register_at(uint64_t address, uint64_t harts, bool multicast) {
  using K = Register::Kind;
  const struct {
    K kind;
    uint64_t base, size, count;
  } map[] = {
      {K::msip, UC_CLINT_BASE, 4, harts},
      {K::mtimecmp, UC_CLINT_BASE + UC_CLINT_MTIMECMP, 8, harts},
      {K::mtime, UC_CLINT_BASE + UC_CLINT_MTIME, 1, 1},
      {K::uart, UC_UART_BASE, 1, 8},
      {K::set, UC_MULTICAST_BASE, 8, multicast ? (harts + 63) / 64 : 0},
      {K::send, UC_MULTICAST_BASE + UC_MULTICAST_SEND, 1, multicast ? 1u : 0},
  };
  for (const auto& [kind, base, size, count] : map)
    if (address - base < size * count)
      return Register{kind, static_cast<uint32_t>((address - base) / size)};
  return std::nullopt;
}

// Performs a hart's access to a register. `env` has register_of(address); time(); say(letter);
// is_local(register), whether the register is at the hart's core; read_register(register) and
// write_register(register, value) for such a register; and far_register(register, address, write,
// value), which sends the access as a message.
template <class Env>
Answer access_device(Env& env, uint64_t address, bool write, uint64_t& value) {
  const std::optional<Register> r = env.register_of(address);
  if (!r) return Answer::fault;
  if (r->kind == Register::Kind::mtime) {
    value = env.time();
  } else if (r->kind == Register::Kind::uart) {
    if (write && r->index == 0) env.say(static_cast<char>(value));
    if (!write) value = r->index == UC_UART_LINE_STATUS ? UC_UART_TRANSMITTER_EMPTY : 0;
  } else if (!env.is_local(*r) || r->interrupts(write, value)) {
    return env.far_register(*r, address, write, value);
  } else if (write) {
    env.write_register(*r, value);
  } else {
    value = env.read_register(*r);
  }
  return Answer::now;
}

}  // namespace uncore
