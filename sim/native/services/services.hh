// What the engine does for a guest beside its memory and devices: semihosting calls, the console,
// and what markers tell.
//
// Interface: call() and mark() for the harts; for the outcome the console, the operations and their
// latencies; progress(), for the watchdog.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "guest/console.hh"
#include "guest/markers.hh"
#include "kernel/time.hh"
#include "observe/latencies.hh"

namespace uncore {

class Services {
 public:
  // An aligned doubleword as the machine would read it.
  using Read = std::function<uint64_t(uint64_t address)>;

  // `now`: the engine's time, which a hart may have passed.
  Services(uint32_t harts, const Time& now, Read read)
      : now_(now), read_(std::move(read)), of_hart_(harts) {}

  // A semihosting call in a hart's registers. The exit code, if it ends the run.
  std::optional<int> call(uint32_t hart, uint64_t* x);
  // A marker at a hart's clock. How long it delays the hart, if it does.
  std::optional<Time> mark(uint32_t hart, unsigned code, uint64_t value, Time clock);

  Console console;
  uint64_t operations() const { return operations_; }
  const Latencies& latencies() const { return latencies_; }
  Time progress() const { return progress_; }  // of the guest: its last operation or call

 private:
  const Time& now_;
  const Read read_;
  std::vector<Operations> of_hart_;
  uint64_t operations_ = 0;
  Latencies latencies_;
  Time progress_ = 0;
};

}  // namespace uncore
