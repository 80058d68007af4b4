// A very simple machine, whose harts have a flat memory that answers at once. Tests use it to
// compare the hart with other implementations, instruction by instruction. It is also an example of
// an environment that drives harts.
//
// The machine has RAM from kRamBase on, and the devices of guest/. Harts take turns of `quantum`
// ticks. An instruction takes one tick, and mtime counts ticks.
//
// Interface: FlatMachine has run(), step(), the harts, the memory and the console.
//
// Invariant: now() is the start of the present turn, and no hart has executed an instruction that
// starts after the end of this turn. If `answers` is `later`, every access is answered later; if it
// is `retry`, every access is refused once. Neither changes the outcome.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "guest/clint.hh"
#include "guest/console.hh"
#include "guest/markers.hh"
#include "guest/registers.hh"
#include "hart/hart.hh"

namespace uncore {

class FlatMachine;

// The devices of a hart, in the form that access_device() requires. Every register can be accessed
// at once, and an interrupt arrives at once.
class FlatDevices {
 public:
  FlatDevices(FlatMachine& machine, unsigned hart, uint64_t now)
      : machine_(machine), hart_(hart), now_(now) {}

  std::optional<Register> register_of(uint64_t address) const;
  uint64_t time() const { return now_; }
  bool is_local(Register) const { return true; }
  void say(char letter);
  uint64_t read_register(Register r) const;
  void write_register(Register r, uint64_t value);
  Answer far_register(Register r, uint64_t, bool, uint64_t value) {
    write_register(r, value);
    return Answer::now;
  }

 private:
  FlatMachine& machine_;
  const unsigned hart_;
  const uint64_t now_;
};

class FlatPort {
 public:
  FlatPort(FlatMachine& machine, Code& code, unsigned id)
      : hart(*this, code, id), id(id), machine_(machine) {}

  Answer load(uint64_t address, unsigned size, uint64_t& value);
  Answer store(uint64_t address, unsigned size, uint64_t value);
  Answer amo(Amo op, uint64_t address, unsigned size, uint64_t operand, uint64_t expected,
             uint64_t& old, unsigned order);
  Answer cas_pair(uint64_t address, Pair operand, Pair expected, Pair& old, unsigned order);
  Answer lr(uint64_t address, unsigned size, uint64_t& value, unsigned order);
  Answer sc(uint64_t address, unsigned size, uint64_t value, uint64_t& failed, unsigned order);
  Answer fence(unsigned, unsigned) { return Answer::now; }
  void fence_i() {}
  Answer mmio(uint64_t address, unsigned size, bool write, uint64_t& value);
  bool mapped(uint64_t address, unsigned size) const;
  bool fetch(uint64_t address, uint32_t& word);
  uint64_t time() { return hart.clock; }
  uint64_t cycle() { return hart.clock; }
  void marker(unsigned code, uint64_t value);
  void gave_up_attempt() {}
  void trapped(uint64_t, bool) { reservation = kNone; }
  void returned() {}

  static constexpr uint64_t kNone = ~uint64_t{0};
  Hart<FlatPort> hart;
  const unsigned id;
  uint64_t reservation = kNone;  // line that an lr has reserved
  Clint clint;
  Operations operations;
  uint64_t changes_seen = 0;  // FlatMachine::changes when the hart ran last
  uint64_t spins = 0, periods_skipped = 0;
  Pair deferred = {};  // result of an access that was answered `later`

 private:
  bool refuses();
  Answer done(Pair result);
  void warm_up(uint64_t address);

  FlatMachine& machine_;
  std::unordered_map<uint64_t, uint64_t> loads_;  // line -> number of loads so far, up to `warming`
  bool refused_ = false;
};

class FlatMachine {
 public:
  enum class End : uint8_t { time, exit, fatal, idle };
  struct Marker {
    unsigned hart, code;
    uint64_t value;
    MarkerEffect marked;
  };

  FlatMachine(unsigned harts, uint64_t ram_size, uint64_t entry, uint64_t quantum, Answer answers)
      : answers(answers), ram_(ram_size), code_(kRamBase, ram_size), quantum_(quantum) {
    for (unsigned id = 0; id < harts; ++id) {
      ports_.push_back(std::make_unique<FlatPort>(*this, code_, id));
      ports_.back()->hart.pc = entry;
    }
  }

  // Gives all harts supervisor mode, with a TLB of `tlb_entries` entries.
  void supervise(uint32_t tlb_entries) {
    for (const auto& port : ports_)
      port->hart.supervise({.first = tlb_entries, .second = tlb_entries, .latency = 0});
  }

  // Runs all harts, turn by turn, for `ticks` or until the guest ends.
  End run(uint64_t ticks);
  // Executes one instruction of one hart, or takes one trap. Returns false if the hart is asleep or
  // the guest has ended.
  bool step(unsigned id);

  unsigned harts() const { return static_cast<unsigned>(ports_.size()); }
  FlatPort& port(unsigned id) { return *ports_.at(id); }
  Hart<FlatPort>& hart(unsigned id) { return port(id).hart; }
  uint64_t now() const { return now_; }

  bool mapped(uint64_t address, uint64_t size) const {
    return address >= kRamBase && size <= ram_.size() && address - kRamBase <= ram_.size() - size;
  }
  // Gives the host access to RAM, for loading programs and reading results.
  std::span<uint8_t> memory(uint64_t address, uint64_t size) {
    if (!mapped(address, size)) throw std::out_of_range("no RAM at this address");
    return std::span(ram_).subspan(address - kRamBase, size);
  }

  // Records a write by a hart. The other harts lose their reservations of the line.
  void written(uint64_t address, const FlatPort* writer);

  const Answer answers;
  // Number of additional ticks that a hart's loads from a line take: `warming` for the first load
  // from that line, and one less for each further load, down to 0.
  uint64_t warming = 0;
  uint64_t changes = 0;  // number of writes to memory; the host must count its own writes here too
  Console console;
  std::vector<Marker> markers;
  std::optional<uint64_t> exit_code;

 private:
  End turn(uint64_t end);
  Stop run(FlatPort& port);
  bool serve(FlatPort& port, Stop why, End& end);
  void semihost(FlatPort& port);
  void timers(uint64_t now);
  bool asleep();

  std::vector<uint8_t> ram_;
  Code code_;
  std::vector<std::unique_ptr<FlatPort>> ports_;
  uint64_t quantum_, now_ = 0;
};

}  // namespace uncore
