// Interprocessor interrupts, timers, and their registers (rules I1 to I5).
//
// An IPI is a message like any other: its latency depends on the positions of the two harts and on
// the traffic between them. An access to a register of another core is a message, too.
//
// Interface: register_of() an address; read() and write() at the register's own core, send_write()
// and send_read() from another core; arrived() and expired() at their events. This class never
// calls a core; it returns effects on a hart. If a kernel runs, its devices are here, too (rule
// P7): they are at the core of hart 0, and their interrupts leave from there.
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
    Time expires = kNever;  // time at which MTIP will be set if mtimecmp stays as it is
  };
  // The value of another core's register, for the hart that has read it.
  struct Answer {
    uint32_t hart;
    uint64_t value;
  };
  // A remote fence that hart `requester` requests of `hart` (sbi/firmware.hh).
  struct Order {
    uint32_t hart, requester;
  };
  using Effect = std::variant<std::monostate, Pending, Answer, Order>;

  std::optional<Register> register_of(uint64_t address) const;
  // Returns whether the register is at this core.
  bool is_local(Register r, Agent core) const {
    return r.kind == Register::Kind::set || r.kind == Register::Kind::send ||
           agents_.core_of(r.hart()) == core;
  }

  // read() and write() access a register for a hart at whose core the register is.
  uint64_t read(Register r, uint32_t hart, Time now);
  std::optional<Pending> write(Register r, uint64_t value, uint32_t hart, Time now);

  // These access the CSRs of a hart's interrupt file. They return false or nothing if it has no
  // such CSR.
  bool read_imsic_csr(uint32_t hart, unsigned csr, uint64_t& value) const;
  std::optional<Pending> write_imsic_csr(uint32_t hart, unsigned csr, uint64_t value);
  // sent() is the number of messages that harts have sent to a hart's interrupt file; taken() is
  // the number of devices' messages that the hart has taken from it.
  uint64_t sent(uint32_t hart) const { return hart < sent_.size() ? sent_[hart] : 0; }
  uint64_t taken(uint32_t hart) const { return hart < files_.size() ? files_[hart].taken() : 0; }
  // Called when letters have been typed at the console, so that the UART may interrupt.
  void typed(Time now) { wire(now); }

  // These access a register of another core by a message that leaves the hart's core at `when`.
  void send_write(Register r, uint64_t value, uint32_t hart, Time when);
  void send_read(Register r, uint32_t hart, Time when);

  Effect arrived(Packet& packet, Time now);  // called when the controller has accepted a message
  Effect expired(uint32_t hart, Time now);
  // Returns the time at which the hart's timer will expire; kNever if it has expired or is not set.
  Time due(uint32_t hart) const { return due_[hart]; }
  // Returns whether the timer of any hart is set and has not expired yet.
  bool any_pending_timer() const { return timers_ > 0; }

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
  uint32_t timers_ = 0;                      // number of timers that will still expire
  std::vector<std::vector<uint64_t>> sets_;  // each hart's set of harts for a multicast, as a mask
};

}  // namespace uncore
