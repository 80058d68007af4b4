// A hart's registers of the CLINT, and the messages that reach those of other harts (rules I1, I4).
//
// A message that arrives takes effect `accept` later, also one that the hart sends to itself.
//
// Interface: at(), read(), write() of its own registers; send() to any hart, arrived() here,
// accepted() in the order of arrival; quiet_until(): no interrupt becomes pending before.
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
  // Is the timer's alarm, which comes now, for the present mtimecmp?
  bool due() const { return alarm() == simulator_.now(); }

  void send(HartMessage::Kind kind, Register target, uint64_t value, Time after);
  void arrived(const HartMessage& message, Time after = 0);
  HartMessage accepted();
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
