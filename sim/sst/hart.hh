// uncore.Hart: our hart as a component of the Structural Simulation Toolkit.
//
// One component is one hart with what the port of sim/native/hart leaves to its environment: a
// store buffer that drains in order (TSO), a reservation, interrupt lines, its registers of the
// CLINT. Data go through the subcomponent in slot `memory` (a StandardMem, so any cache that SST
// has); code is read from the hart's own copy of the program. Messages about registers travel on
// the ports hart0, hart1, ...: links whose latency is the way between the two harts.
//
// SST's time is a picosecond here. The hart computes ahead of it, but never past the next time at
// which an interrupt could become pending, and it touches memory only when SST's time has come.
//
// Invariant: between two calls the hart waits for exactly one of: its wake-up, an answer of memory,
// the store buffer, another hart's register, an interrupt (wfi), or nothing any more (stopped).
// There is no state outside components, so threads and processes of SST change nothing.
#pragma once

#include <sst/core/component.h>
#include <sst/core/interfaces/stdMem.h>
#include <sst/core/link.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/issuing.hh"
#include "core/store_buffer.hh"
#include "guest/clint.hh"
#include "guest/console.hh"
#include "guest/markers.hh"
#include "guest/registers.hh"
#include "guest/semihosting.hh"
#include "hart/hart.hh"
#include "image.hh"
#include "message.hh"
#include "observe/latencies.hh"

namespace uncore {

class SstHart : public SST::Component, public IssuingPort<SstHart> {
 public:
  SST_ELI_REGISTER_COMPONENT(SstHart, "uncore", "Hart", SST_ELI_ELEMENT_VERSION(1, 0, 0),
                             "RV64 hart with store buffer, reservation and interrupt lines",
                             COMPONENT_CATEGORY_PROCESSOR)
  SST_ELI_DOCUMENT_PARAMS({"id", "its number, mhartid"}, {"harts", "how many take part"},
                          {"program", "ELF file"}, {"ram", "bytes of memory from 0x80000000"},
                          {"instruction", "ps of an instruction"},
                          {"mispredict", "ps more of a conditional branch predicted wrongly"},
                          {"pause", "ps of a pause"},
                          {"forward", "ps of a load that the store buffer answers"},
                          {"lr", "ps more of an LR than its load took"},
                          {"amo", "ps more of an AMO than its two accesses took"},
                          {"stores", "entries of the store buffer"},
                          {"send", "ps that an interrupt occupies its sender"},
                          {"accept", "ps from its arrival until it is pending"},
                          {"entry", "ps to enter an interrupt's trap"}, {"exit", "ps to leave it"},
                          {"watchdog", "ps without an operation, after which it gives up"})
  SST_ELI_DOCUMENT_PORTS({"hart%(harts)d", "to the hart of that number", {"uncore.Message"}})
  SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS({"memory", "where its data are",
                                       "SST::Interfaces::StandardMem"})

  SstHart(SST::ComponentId_t id, SST::Params& params);

  // SST's phases.
  void init(unsigned phase) override;
  void setup() override;
  void complete(unsigned phase) override { memory_->complete(phase); }
  void finish() override;

  // The port of the hart (hart/port.hh), with what IssuingPort adds.
  Answer cas_pair(uint64_t address, Pair operand, Pair expected, Pair& old, unsigned order);
  Answer fence(unsigned predecessor, unsigned successor);
  void fence_i() {}
  Answer mmio(uint64_t address, unsigned size, bool write, uint64_t& value);
  bool mapped(uint64_t address, unsigned size) const { return address - kRamBase + size <= ram_; }
  bool fetch(uint64_t address, uint32_t& word);
  uint64_t time() const { return hart_.clock / 1000; }  // CSR time counts nanoseconds
  uint64_t cycle() const { return hart_.clock / hart_.cost.instruction; }
  void marker(unsigned code, uint64_t value);
  void gave_up() {}  // an L1 of memHierarchy has no way to give up a link
  void trapped(uint64_t cause, bool interrupt);
  void returned();

  // The registers it finds (guest/registers.hh).
  std::optional<Register> register_of(uint64_t address) const;
  void say(char letter) { say({&letter, 1}); }
  bool at_hand(Register r) const { return r.index == id_; }
  uint64_t read_register(Register r) const { return clint_.read(r.kind); }
  void write_register(Register r, uint64_t value);
  Answer issue(const Access& access, Outcome& outcome);  // always later

 private:
  using Memory = SST::Interfaces::StandardMem;
  using Time = uint64_t;
  static constexpr Time kNever = ~Time{0};

  // hart.cc: executing, and when to go on.
  void prepare();
  Time now() const { return getCurrentSimTime(picoseconds_); }
  void run();
  void run_at(Time when);
  void woken(SST::Event*);
  void resume(uint64_t value);
  void stop(const std::string& how, uint64_t code);

  // memory.cc: accesses.
  bool perform();
  bool perform_load();
  bool perform_store();
  bool perform_conditional();
  bool reach_register();
  void drain();
  void answered(Memory::Request* request);
  void stored();
  void loaded(uint64_t value);
  void conditional(bool failed);

  // devices.cc: registers, interrupts, semihosting.
  void pending(unsigned bit, bool level);
  void send(RegisterMessage::Kind kind, Register target, uint64_t value, Time after);
  void received(SST::Event* event);
  void accepted(SST::Event* event);
  void accept(const RegisterMessage& message);
  void expired(SST::Event*);
  void semihost();
  void read_for_call(uint64_t doubleword);
  void called();
  void say(std::string_view letters);

  // What this hart is.
  const unsigned id_, harts_;
  const Image image_;
  Code code_;
  Hart<SstHart> hart_;
  uint64_t ram_;
  struct {
    Time forward, lr, amo, send, accept, entry, exit, watchdog;
  } cost_;
  std::size_t stores_;
  std::vector<Segment> initial_;  // hart 0: what memory holds at the start

  SST::TimeConverter picoseconds_;
  Memory* memory_ = nullptr;
  SST::Link *wake_ = nullptr, *arrival_ = nullptr, *timer_link_ = nullptr;
  std::vector<SST::Link*> to_;  // by hart

  // What it waits for.
  Time wake_at_ = kNever;
  Access access_;         // while the hart is suspended
  bool blocked_ = false;  // it waits for the store buffer
  uint64_t read_ = 0;     // AMO: what its LoadLink read
  StoreBuffer buffer_;
  std::optional<Memory::Request::id_t> storing_;  // its oldest store is under way
  std::optional<uint64_t> reservation_;           // the line of the last LR
  std::optional<Semihosting> call_;               // reads memory
  Console console_;
  bool stopped_ = false;

  // Interrupts.
  std::multimap<Time, RegisterMessage> arrivals_;  // accepted at that time
  Clint clint_;
  bool interrupted_ = false;  // the trap it handles is an interrupt
  Time delayed_until_ = 0;

  // What it counts.
  Operations operations_;
  uint64_t done_ = 0, link_retries_ = 0;  // operations; of an AMO's StoreConditional
  Latencies latencies_;
};

}  // namespace uncore
