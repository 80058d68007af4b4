// The part of a hart's port (hart/port.hh) that accesses memory-mapped registers: those of CLINT,
// interrupt files, console and clock (guest/registers.hh).
#pragma once

#include <optional>

#include "guest/registers.hh"
#include "hart/port.hh"

namespace uncore {

// `Port` is the derived class. It has a core, a number `id` and a hart.
template <class Port>
class RegisterPort {
 public:
  uint64_t time() { return port().hart.clock / 1000; }  // the time base of the native engine: 1 GHz
  void set_timer(uint64_t when) { write_register({Register::Kind::mtimecmp, port().id}, when); }
  uint64_t timer() { return read_register({Register::Kind::mtimecmp, port().id}); }

  bool read_imsic_csr(unsigned csr, uint64_t& value) {
    return interrupts().read_imsic_csr(port().id, csr, value);
  }
  bool write_imsic_csr(unsigned csr, uint64_t value) {
    const auto pending = interrupts().write_imsic_csr(port().id, csr, value);
    if (pending) port().core.interrupt(*pending, port().hart.clock);
    return pending.has_value();
  }

  Answer mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
    if (port().confined()) return Answer::retry;
    return access_device(port(), address, write, value);
  }
  std::optional<Register> register_of(uint64_t address) const {
    const auto target = interrupts().register_of(address);
    return target && target->kind == Register::Kind::fence ? std::nullopt : target;
  }
  bool is_local(Register r) const { return interrupts().is_local(r, port().core.agent); }
  uint64_t read_register(Register r) { return interrupts().read(r, port().id, port().hart.clock); }
  void write_register(Register r, uint64_t value) {
    const Port& p = port();
    if (const auto pending = interrupts().write(r, value, p.id, p.hart.clock))
      return p.core.interrupt(*pending, p.hart.clock);
    // A message carries the change to the register's owner, which may be this core.
    if (r.interrupts_others()) p.core.turns.shorten(p.hart.clock);
  }
  void say(char letter) { port().core.context.services.console.say(port().id, {&letter, 1}); }

 private:
  Port& port() { return static_cast<Port&>(*this); }
  const Port& port() const { return static_cast<const Port&>(*this); }
  auto& interrupts() const { return port().core.context.interrupts; }
};

}  // namespace uncore
