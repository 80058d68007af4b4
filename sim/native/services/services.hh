// The services that the engine offers a guest besides memory and devices: semihosting calls, the
// console, and markers.
//
// Interface: harts use call() and mark(). The outcome has the console, the number of operations,
// their latencies and their pace. The watchdog, which stops a run that hangs, uses progress().
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
  // `queue` gives the engine's time; a hart's clock may be ahead of it.
  Services(uint32_t harts, const EventQueue& queue, FunctionalMemory& memory)
      : queue_(queue), memory_(memory), of_hart_(harts), kept_markers_(harts) {}

  // Performs the semihosting call in a hart's registers `x`. Returns the exit code if the call ends
  // the run.
  std::optional<int> call(uint32_t hart, uint64_t* x);
  // Handles a marker at time `clock` of a hart. Returns the time for which the marker delays the
  // hart, if it does.
  std::optional<Time> mark(uint32_t hart, unsigned code, uint64_t value, Time clock);
  // Handles a marker like mark(), but may run on several host threads at once, each for another
  // hart: it stores the marker, and take_kept() applies its effects on data that all harts share.
  // Only a marker for which is_keepable() is true may be passed.
  std::optional<Time> keep(uint32_t hart, unsigned code, uint64_t value, Time clock);
  // Applies the effects of the markers that keep() has stored, on one host thread.
  void take_kept();
  static bool is_keepable(unsigned code) {
    return code == UC_MARK_OP || code == UC_MARK_START || code == UC_MARK_DELAY ||
           code == UC_MARK_KIND;
  }

  // Returns whether an event of the hart at that time is counted: outside of its warm-up (W1.1).
  bool counts(uint32_t hart, Time at) const { return of_hart_[hart].counts(at); }

  // Tells the watchdog that the guest's kernel makes progress.
  void note_progress() { progress_ = queue_.now(); }

  Console console;
  uint64_t operations() const { return operations_; }
  bool begun() const { return begun_; }  // a hart has begun its measured part
  const Latencies& latencies() const { return latencies_; }
  const Pace& pace() const { return pace_; }
  Time progress() const { return progress_; }  // time of the guest's last operation or call

 private:
  struct Kept {
    MarkerEffect effect;
    unsigned code;
    Time clock;
  };
  void take(const Kept& marker);
  static std::optional<Time> delay(const MarkerEffect& effect) {
    if (!effect.delay) return std::nullopt;
    return *effect.delay * 1000;  // from ns to ps
  }

  const EventQueue& queue_;
  FunctionalMemory& memory_;
  std::vector<Operations> of_hart_;
  std::vector<std::vector<Kept>> kept_markers_;  // index: hart; the markers that keep() has stored
  uint64_t operations_ = 0;
  bool begun_ = false;
  Latencies latencies_;
  Pace pace_;
  Time progress_ = 0;
};

inline std::optional<Time> Services::mark(uint32_t hart, unsigned code, uint64_t value,
                                          Time clock) {
  const MarkerEffect effect = of_hart_[hart].mark(code, value, clock);
  take({effect, code, clock});
  return delay(effect);
}

inline std::optional<Time> Services::keep(uint32_t hart, unsigned code, uint64_t value,
                                          Time clock) {
  const MarkerEffect effect = of_hart_[hart].mark(code, value, clock);
  if (effect.operations || begins(code)) kept_markers_[hart].push_back({effect, code, clock});
  return delay(effect);
}

inline void Services::take_kept() {
  for (auto& of_hart : kept_markers_) {
    for (const Kept& marker : of_hart) take(marker);
    of_hart.clear();
  }
}

// Applies a marker's effects on data that all harts share. The result does not depend on the order
// in which markers are applied.
inline void Services::take(const Kept& marker) {
  const auto& [effect, code, clock] = marker;
  if (effect.operations) progress_ = queue_.now();
  operations_ += effect.operations;
  begun_ |= begins(code);
  if (code == UC_MARK_ROI_ON) pace_.record_entry(clock);
  if (code == UC_MARK_ROI_OFF) pace_.record_exit(clock);
  if (!effect.latency) return;
  latencies_.add(*effect.latency, effect.operations);
  pace_.done(clock, effect.operations, *effect.latency);
}

}  // namespace uncore
