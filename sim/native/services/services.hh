// What the engine does for a guest beside its memory and devices: semihosting calls, the console,
// and what markers tell.
//
// Interface: call() and mark() for the harts; for the outcome the console, the operations, their
// latencies and their pace; progress(), for the watchdog.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "guest/console.hh"
#include "guest/markers.hh"
#include "memory/functional.hh"
#include "observe/latencies.hh"
#include "observe/pace.hh"
#include "time/queue.hh"

namespace uncore {

class Services {
 public:
  // `queue`: whose time a hart may have passed.
  Services(uint32_t harts, const EventQueue& queue, FunctionalMemory& memory)
      : queue_(queue), memory_(memory), of_hart_(harts) {}

  // A semihosting call in a hart's registers. The exit code, if it ends the run.
  std::optional<int> call(uint32_t hart, uint64_t* x);
  // A marker at a hart's clock. How long it delays the hart, if it does.
  std::optional<Time> mark(uint32_t hart, unsigned code, uint64_t value, Time clock);

  // Its kernel has seen it at work.
  void lives() { progress_ = queue_.now(); }

  Console console;
  uint64_t operations() const { return operations_; }
  bool begun() const { return begun_; }  // a hart has begun what is measured
  const Latencies& latencies() const { return latencies_; }
  const Pace& pace() const { return pace_; }
  Time progress() const { return progress_; }  // of the guest: its last operation or call

 private:
  const EventQueue& queue_;
  FunctionalMemory& memory_;
  std::vector<Operations> of_hart_;
  uint64_t operations_ = 0;
  bool begun_ = false;
  Latencies latencies_;
  Pace pace_;
  Time progress_ = 0;
};

inline std::optional<Time> Services::mark(uint32_t hart, unsigned code, uint64_t value,
                                          Time clock) {
  const Marked marked = of_hart_[hart].mark(code, value, clock);
  if (marked.operations) progress_ = queue_.now();
  operations_ += marked.operations;
  begun_ |= begins(code);
  if (code == UC_MARK_ROI_ON) pace_.enters(clock);
  if (code == UC_MARK_ROI_OFF) pace_.leaves(clock);
  if (marked.latency) {
    latencies_.add(*marked.latency, marked.operations);
    pace_.done(clock, marked.operations);
  }
  if (!marked.delay) return std::nullopt;
  return *marked.delay * 1000;  // ns
}

}  // namespace uncore
