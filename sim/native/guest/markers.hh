// Markers of a guest: HINT instructions (UC_MARK_... of its ABI) that say where its operations
// begin and end, or let simulated time pass.
//
// Interface: each hart has an Operations, whose mark() returns what the environment has to do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "uncore_abi.h"

namespace uncore {

struct MarkerEffect {
  uint64_t operations = 0;            // number of operations that this marker ends
  std::optional<uint64_t> latency{};  // latency of each, if it is measured
  std::optional<uint64_t> delay{};    // ns by which the hart's clock advances (rule H7)
};

// Returns whether a marker begins the measured part of a run.
constexpr bool begins(unsigned code) { return code == UC_MARK_START || code == UC_MARK_ROI_ON; }

class Operations {
 public:
  MarkerEffect mark(unsigned code, uint64_t value, uint64_t clock) {
    switch (code) {
      case UC_MARK_WARM_UP:
        (measured_from_ == kNever ? unmeasured_from_ : measured_until_) = clock;
        warms_up_ = true;
        return {};
      case UC_MARK_ROI_ON:
        if (warms_up_) measured_from_ = clock;
        warms_up_ = false;
        [[fallthrough]];
      case UC_MARK_START:
        measuring_ = !warms_up_;
        began_ = clock;
        return {};
      case UC_MARK_ROI_OFF:
        measuring_ = false;
        return {};
      case UC_MARK_OP:
        return done(std::max<uint64_t>(1, value), clock);
      case UC_MARK_DELAY:
        return {.delay = std::min<uint64_t>(value, UC_LONGEST_DELAY)};
      default:
        return {};
    }
  }

  // Returns whether an event at time `time` is counted (W1.1). The answer is the same whether or
  // not the hart, which may run ahead, has executed the marker that ends the warm-up.
  bool counts(uint64_t time) const {
    return time < unmeasured_from_ || (measured_from_ <= time && time < measured_until_);
  }

  bool measuring() const { return measuring_; }
  uint64_t began() const { return began_; }  // start of the current operation, on mark()'s clock

 private:
  MarkerEffect done(uint64_t batch, uint64_t clock) {
    MarkerEffect marked{.operations = batch};
    if (measuring_) marked.latency = (clock - began_) / batch;
    began_ = clock;
    return marked;
  }

  static constexpr uint64_t kNever = ~uint64_t{0};
  bool measuring_ = false, warms_up_ = false;
  uint64_t unmeasured_from_ = kNever, measured_from_ = kNever, measured_until_ = kNever;
  uint64_t began_ = 0;
};

}  // namespace uncore
