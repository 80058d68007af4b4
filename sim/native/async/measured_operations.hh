// The operations that a hart's markers delimit: how many have been done, and how long they took.
//
// Interface: mark() takes a marker and returns the delay that it requests; overdue() is for the
// watchdog, latencies() for the report.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "guest/markers.hh"
#include "observe/latencies.hh"
#include "time/time.hh"

namespace uncore {

class MeasuredOperations {
 public:
  // Takes a marker. Returns the delay that it requests, in ps, or 0.
  Time mark(unsigned code, uint64_t value, Time clock) {
    const MarkerEffect marked = operations_.mark(code, value, clock);
    done_ += marked.operations;
    if (marked.latency) latencies_.add(*marked.latency, marked.operations);
    return marked.delay.value_or(0) * 1000;
  }

  // Returns whether the present operation has taken longer than the watchdog allows.
  bool overdue(Time now, Time watchdog) const {
    return operations_.measuring() && now - std::min(operations_.began(), now) > watchdog;
  }

  uint64_t done() const { return done_; }
  // Returns "LOWER_BOUND:COUNT," for each bucket of latencies that is in use.
  std::string latencies() const {
    std::string text;
    latencies_.each([&text](Time latency, uint64_t count) {
      text += std::to_string(latency) + ':' + std::to_string(count) + ',';
    });
    return text;
  }

 private:
  Operations operations_;
  uint64_t done_ = 0;
  Latencies latencies_;
};

}  // namespace uncore
