// Interprocessor interrupts, timers, and the registers behind them (rules I1 to I5).
//
// An IPI is a message like any other: its latency depends on the places of the two harts and on the
// traffic between them. So is any access to a register of another core.
//
// Interface: register_of() an address; read() and write() at the register's own core, send_write()
// and send_read() from another; arrived() and expired() at their events. Nothing here calls a core:
// effects on a hart are returned. If a kernel runs, its devices are here, too (rule P7): they are
// at the core of hart 0, and their interrupts leave from there.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "fabric/network.hh"
#include "guest/aplic.hh"
#include "guest/clint.hh"
#include "guest/imsic.hh"
#include "guest/registers.hh"
#include "guest/uart.hh"
#include "spec/agents.hh"
#include "spec/interrupt_spec.hh"
#include "time/queue.hh"

namespace uncore {

class Interrupts {
 public:
  Interrupts(const Agents& agents, Network& network, EventQueue& queue, bool multicast,
             const BootSpec& boot, Console& console)
      : agents_(agents),
        network_(network),
        queue_(queue),
        multicast_(multicast),
        boot_(boot),
        uart_(console),
        files_(boot.present ? agents.harts() : 0),
        sent_(files_.size()),
        clints_(agents.harts()),
        due_(agents.harts(), kNever),
        sets_(agents.harts()) {}

  // A change of a bit of a hart's mip.
  struct Pending {
    uint32_t hart;
    unsigned bit;
    bool level;
    Time expires = kNever;  // when the timer's bit will be set, unless the timer is set anew
  };
  // The value of another core's register, for the hart that has asked for it.
  struct Answer {
    uint32_t hart;
    uint64_t value;
  };
  // An order of another hart that a hart is to carry out (sbi/firmware.hh).
  struct Order {
    uint32_t hart, by;
  };
  using Effect = std::variant<std::monostate, Pending, Answer, Order>;

  std::optional<Register> register_of(uint64_t address) const;
  // True if the register is at this core.
  bool at_hand(Register r, Agent core) const {
    return r.kind == Register::Kind::set || r.kind == Register::Kind::send ||
           agents_.core_of(r.hart()) == core;
  }

  // Access to a register by a hart at whose core it is.
  uint64_t read(Register r, uint32_t hart, Time now);
  std::optional<Pending> write(Register r, uint64_t value, uint32_t hart, Time now);

  // Access to the CSRs of a hart's interrupt file. False, or none: there is no such CSR.
  bool get_external(uint32_t hart, unsigned csr, uint64_t& value) const;
  std::optional<Pending> set_external(uint32_t hart, unsigned csr, uint64_t value);
  // Numbers of messages that other harts have sent to a hart's file, and that the hart has taken
  // from devices.
  uint64_t sent(uint32_t hart) const { return hart < sent_.size() ? sent_[hart] : 0; }
  uint64_t taken(uint32_t hart) const { return hart < files_.size() ? files_[hart].taken() : 0; }
  // Letters have been typed: the UART may interrupt.
  void typed(Time now) { wire(now); }

  // Access by a message that leaves the hart's core at `when`.
  void send_write(Register r, uint64_t value, uint32_t hart, Time when);
  void send_read(Register r, uint32_t hart, Time when);

  Effect arrived(Packet& packet, Time now);  // called when the controller has accepted a message
  Effect expired(uint32_t hart, Time now);
  // Returns when the hart's timer will be due; kNever if it is due, or set to never.
  Time due(uint32_t hart) const { return due_[hart]; }
  // True if the timer of any hart will be due.
  bool any_due() const { return timers_ > 0; }

 private:
  void send_many(uint32_t hart, Time when);
  void wire(Time now);
  void send(const std::optional<Aplic::Msi>& msi, Time now);
  Pending external(uint32_t hart) const { return {hart, kExternal, files_[hart].level()}; }
  void set_due(uint32_t hart, Time when);
  Time set_alarm(uint32_t hart, uint64_t mtime);

  const Agents& agents_;
  Network& network_;
  EventQueue& queue_;
  const bool multicast_;
  const BootSpec& boot_;
  Aplic aplic_;
  Uart uart_;
  std::vector<Imsic> files_;  // an interrupt file for each hart, if a kernel runs
  std::vector<uint64_t> sent_;
  std::vector<Clint> clints_;                // registers of each hart
  std::vector<Time> due_;                    // when each hart's timer is due
  uint32_t timers_ = 0;                      // number of timers that will be due
  std::vector<std::vector<uint64_t>> sets_;  // each hart's set of harts, as words
};

}  // namespace uncore
