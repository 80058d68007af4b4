// The interface of the simulator that contains a hart of this folder as a component: its time, its
// alarms, and its links between harts.
//
// Interface: alarm_at() makes the simulator call AsyncHart::alarm() at a later time. send() makes
// it call AsyncHart::received() of another hart when the message arrives there. end() tells it that
// this hart has ended the run.
//
// Invariant: now() never goes back. An alarm cannot be cancelled: every alarm occurs, even an
// outdated one.
#pragma once

#include <cstdint>
#include <string_view>

#include "guest/registers.hh"
#include "time/time.hh"

namespace uncore {

// A write to a register of another hart, a read of one, or the value read (rules I1 and I4).
struct HartMessage {
  enum class Kind : uint8_t { write, read, value };
  Kind kind = Kind::write;
  Register::Kind target = Register::Kind::msip;
  uint64_t value = 0;
  uint32_t from = 0;  // the hart that sent it
};

enum class Alarm : uint8_t {
  run,     // the hart continues to execute
  accept,  // the earliest of the messages that have arrived takes effect
  timer,   // mtime has reached mtimecmp, unless mtimecmp has been written meanwhile
};

class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual Time now() const = 0;
  virtual void alarm_at(Alarm alarm, Time when) = 0;
  virtual void send(uint32_t hart, const HartMessage& message, Time after) = 0;
  virtual void print(std::string_view text) = 0;
  virtual void end() = 0;
};

}  // namespace uncore
