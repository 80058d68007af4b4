// The port of a hart (hart/port.hh) whose memory answers later.
//
// Every access to memory, or to a register of another hart, is noted and answered `later`.
// AsyncHart performs it when the simulator's time has reached the hart's clock. Code is fetched
// from the hart's own copy of the program.
#pragma once

#include <optional>
#include <string>

#include "async/access_unit.hh"
#include "async/image.hh"
#include "async/measured_operations.hh"
#include "core/issuing.hh"
#include "guest/console.hh"
#include "hart/hart_class.hh"

namespace uncore {

class AsyncPort : public IssuingPort<AsyncPort> {
 public:
  AsyncPort(const AsyncSpec& spec, const Image& image, AccessUnit& accesses,
            InterruptRegisters& registers);
  ~AsyncPort();  // defined in the .cc file, where the type Translation is complete

  // The functions of a port that IssuingPort does not provide.
  Answer issue(const Access& access, Outcome&) {
    accesses_.note(access);
    return Answer::later;
  }
  Answer cas_pair(uint64_t, Pair, Pair, Pair&, unsigned);
  Answer fence(unsigned predecessor, unsigned successor);
  void fence_i() {}
  Answer mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
    return access_device(*this, address, write, value);
  }
  bool mapped(uint64_t address, unsigned size) const {
    return address - kRamBase + size <= spec_.ram;
  }
  bool fetch(uint64_t address, uint32_t& word);
  uint64_t time() const { return hart.clock / 1000; }  // CSR time counts nanoseconds
  uint64_t cycle() const { return hart.clock / hart.cost.instruction; }
  void marker(unsigned code, uint64_t value);
  void gave_up_attempt() {}  // nothing to do: the memory has no request that releases a load-link
  void trapped(uint64_t cause, bool interrupt);
  void returned();

  // The environment of access_device() (guest/registers.hh).
  std::optional<Register> register_of(uint64_t address) const { return registers_.at(address); }
  void say(char letter) { console.say(spec_.id, {&letter, 1}); }
  bool is_local(Register r) const { return registers_.owns(r); }
  uint64_t read_register(Register r) const { return registers_.read(r.kind); }
  void write_register(Register r, uint64_t value);

  Hart<AsyncPort> hart;
  MeasuredOperations operations;
  Console console;
  Time delayed_until = 0;  // end of the last delay that a marker requested

 private:
  const AsyncSpec& spec_;
  const Image& image_;
  AccessUnit& accesses_;
  InterruptRegisters& registers_;
  Code code_;
  bool interrupted_ = false;  // the trap that the hart is handling is an interrupt
};

}  // namespace uncore
