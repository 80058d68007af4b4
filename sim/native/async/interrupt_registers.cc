#include "async/interrupt_registers.hh"

#include <algorithm>

namespace uncore {

// Returns when the timer expires, in ps; kNever if it is off. (mtimecmp is in nanoseconds.)
Time InterruptRegisters::alarm() const {
  return clint_.mtimecmp() < kNever / 1000 ? clint_.mtimecmp() * 1000 : kNever;
}

Clint::Change InterruptRegisters::write(Register::Kind kind, uint64_t value, Time clock) {
  const Clint::Change change = clint_.write(kind, value, clock / 1000);
  if (change.alarm && alarm() != kNever) simulator_.alarm_at(Alarm::timer, alarm());
  return change;
}

void InterruptRegisters::send(HartMessage::Kind kind, Register target, uint64_t value, Time after) {
  const HartMessage message{kind, target.kind, value, spec_.id};
  if (owns(target)) return arrived(message, after);
  simulator_.send(target.index, message, after);
}

void InterruptRegisters::arrived(const HartMessage& message, Time after) {
  const Time effective = simulator_.now() + after + spec_.accept;
  arrivals_.emplace(effective, message);
  simulator_.alarm_at(Alarm::accept, effective);
}

HartMessage InterruptRegisters::accepted_message() {
  const HartMessage message = arrivals_.begin()->second;
  arrivals_.erase(arrivals_.begin());
  return message;
}

void InterruptRegisters::answer(const HartMessage& question) {
  const HartMessage message{HartMessage::Kind::value, question.target, read(question.target),
                            spec_.id};
  simulator_.send(question.from, message, 0);
}

// Returns a time before which no interrupt becomes pending: even one that is sent now takes
// `accept`.
Time InterruptRegisters::quiet_until() const {
  const Time now = simulator_.now();
  Time until = now + std::max(spec_.accept, spec_.cost.instruction);
  if (!arrivals_.empty()) until = std::min(until, arrivals_.begin()->first);
  return std::min(until, std::max(alarm(), now + 1));
}

}  // namespace uncore
