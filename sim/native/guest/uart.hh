// A UART like National Semiconductor's 16550: it connects a console and drives an interrupt wire.
// Sending a letter takes no time.
//
// Interface: read() and write() access a register; level() is the level of the interrupt wire.
#pragma once

#include <cstdint>

#include "guest/console.hh"
#include "uncore_abi.h"

namespace uncore {

class Uart {
 public:
  explicit Uart(Console& console) : console_(console) {}

  bool level() const { return cause() != kNoInterrupt; }

  uint64_t read(uint32_t number) {
    switch (number) {
      case kRbrThr:
        return divides() ? 0 : console_.take_typed();
      case kIer:
        return divides() ? 0 : enabled_;
      case kIirFcr: {
        const uint8_t why = cause();
        if (why == kTransmitterEmpty) sent_ = false;
        return why | (queues_ ? kQueues : 0);
      }
      case UC_UART_LINE_STATUS:
        return UC_UART_TRANSMITTER_EMPTY | uint64_t{console_.is_typed()};
      default:
        return plain_registers_[number];
    }
  }

  void write(uint32_t number, uint8_t value) {
    if (number == kRbrThr && !divides()) {
      console_.say(0, {reinterpret_cast<const char*>(&value), 1});
      sent_ = true;
    } else if (number == kIer && !divides()) {
      sent_ |= value & ~enabled_ & kTransmits;
      enabled_ = value & (kReceives | kTransmits);
      console_.listens = enabled_ & kReceives;
    } else if (number == kIirFcr) {
      queues_ = value & 1;
    } else if (number == kLcr || number == kMcr || number == kScr) {
      plain_registers_[number] = value;
    }
  }

 private:
  // The 16550's RBR and THR, IER, IIR and FCR, LCR, MCR, SCR.
  enum : uint32_t { kRbrThr = 0, kIer = 1, kIirFcr = 2, kLcr = 3, kMcr = 4, kScr = 7 };
  static constexpr uint8_t kReceives = 1, kTransmits = 2;  // bits of IER: ERBFI, ETBEI
  // Values of IIR: no interrupt, transmitter empty, data available.
  static constexpr uint8_t kNoInterrupt = 1, kTransmitterEmpty = 2, kDataAvailable = 4;
  static constexpr uint8_t kQueues = 0xC0;

  bool divides() const {
    return plain_registers_[kLcr] & 0x80;
  }  // DLAB: registers 0 and 1 are the divisor
  uint8_t cause() const {
    if (enabled_ & kReceives && console_.is_typed()) return kDataAvailable;
    return enabled_ & kTransmits && sent_ ? kTransmitterEmpty : kNoInterrupt;
  }

  Console& console_;
  bool sent_ = false, queues_ = false;
  uint8_t enabled_ = 0;
  uint8_t plain_registers_[8] = {};  // registers that only hold what was last written
};

}  // namespace uncore
