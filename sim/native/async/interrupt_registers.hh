// A hart's CLINT registers, and the messages by which it accesses those of other harts (rules I1,
// I4).
//
// A message takes effect `accept` after its arrival, even if the hart sends it to itself.
//
// Interface: at(), read() and write() access the hart's own registers. send() sends a message to
// any hart; arrived() stores a message that arrives at this hart; accepted_message() returns the
// one that takes effect now, in the order of arrival. No interrupt becomes pending before
// quiet_until().
#pragma once

#include <map>
#include <optional>

#include "async/async_spec.hh"
#include "async/simulator.hh"
#include "guest/clint.hh"

namespace uncore {

class InterruptRegisters {
 public:
  InterruptRegisters(const AsyncSpec& spec, Simulator& simulator)
      : spec_(spec), simulator_(simulator) {}

  std::optional<Register> at(uint64_t address) const {
    return register_at(address, spec_.harts, false);
  }
  bool owns(Register r) const { return r.index == spec_.id; }
  uint64_t read(Register::Kind kind) const { return clint_.read(kind); }
  Clint::Change write(Register::Kind kind, uint64_t value, Time clock);
  // Returns whether the timer expires now. It does not if mtimecmp has been written since the alarm
  // was set.
  bool due() const { return alarm() == simulator_.now(); }

  void send(HartMessage::Kind kind, Register target, uint64_t value, Time after);
  void arrived(const HartMessage& message, Time after = 0);
  HartMessage accepted_message();
  void answer(const HartMessage& question);

  Time quiet_until() const;

 private:
  Time alarm() const;

  const AsyncSpec& spec_;
  Simulator& simulator_;
  Clint clint_;
  std::multimap<Time, HartMessage> arrivals_;  // key: when the message takes effect
};

}  // namespace uncore
