// A hart as a component of another simulator, whose memory answers later. It has a store buffer, a
// reservation and interrupt lines.
//
// The hart executes instructions ahead of the simulator's time, but never past the next time at
// which an interrupt could become pending. It accesses memory only when the simulator's time has
// reached its own.
//
// Interface: start(); then the simulator calls alarm(), received() and answered(); halt() ends the
// hart, report() returns its counters. The guest's output and the line that ends the run go to
// Simulator::print(); engine/sst/read.py reads both.
//
// Invariant: between two calls the hart waits for exactly one of: its alarm, an answer of memory,
// the value of another hart's register, an interrupt (wfi), or nothing (after halt()). It shares no
// state with other harts, so that a simulator may run harts in different threads and processes.
#pragma once

#include <optional>
#include <string>

#include "async/access_unit.hh"
#include "async/async_memory.hh"
#include "async/async_port.hh"
#include "async/image.hh"
#include "async/interrupt_registers.hh"
#include "async/simulator.hh"
#include "guest/semihosting.hh"

namespace uncore {

class AsyncHart {
 public:
  // The image, the memory and the simulator must outlive the hart.
  AsyncHart(const AsyncSpec& spec, const Image& image, AsyncMemory& memory, Simulator& simulator);

  void start() { run_at(0); }
  void alarm(Alarm alarm);
  void received(const HartMessage& message);
  void answered(const MemoryAnswer& answer);
  void halt() { halted_ = true; }
  // Prints the guest's unfinished line, if any, and returns the hart's counters as a line of text.
  // Called when the run is over.
  std::string report();

 private:
  using Done = AccessUnit::Done;

  void run();
  bool stopped(Stop why);
  void run_at(Time when);
  void woken();
  void resume(const Done& done);
  void go_on(const std::optional<Done>& done);
  bool perform();
  void end(const std::string& outcome, uint64_t code);
  void trap_without_handler();

  void accept(const HartMessage& message);
  void pending(unsigned bit, bool level);

  void begin_call();
  void read_for_call();
  void take_for_call(uint64_t doubleword);
  void end_call();
  void print();

  const AsyncSpec spec_;
  AsyncMemory& memory_;
  Simulator& simulator_;
  InterruptRegisters registers_;
  AccessUnit accesses_;
  AsyncPort port_;
  Hart<AsyncPort>& hart_;
  std::optional<Time> wake_at_;      // time of the last Alarm::run; earlier ones are outdated
  std::optional<Semihosting> call_;  // the semihosting call in progress
  RequestId call_request_ = 0;       // number of the memory request that the call waits for
  bool halted_ = false;
};

}  // namespace uncore
