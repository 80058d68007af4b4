// Counts operations in spans of simulated time, from which steady.hh finds the steady state.
//
// Interface: record_entry() and record_exit() when a hart begins and ends its measured part; done()
// for operations; the other functions return what was recorded. A span is 2^shift() ps long, with
// the least shift() for which kSpans spans cover all operations. So the result does not depend on
// the order of calls, which is not chronological, because cores run ahead of each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "time/time.hh"

namespace uncore {

class Pace {
 public:
  struct Span {
    uint64_t operations = 0;
    Time last = 0;  // when the last of these operations ended
  };

  void record_entry(Time clock) { entered_ = std::max(entered_, clock); }
  void record_exit(Time clock) { first_end_ = std::min(first_end_, clock); }
  // Counts operations of `duration` ps, the last of which ended at `clock`. If a program reports
  // many at once, they are assumed to have been executed one after the other (W2).
  void done(Time clock, uint64_t operations, Time duration) {
    const uint64_t parts = std::min(operations, kParts), part = operations / parts;
    for (uint64_t parts_after = parts; parts_after-- > 1;)
      ended(clock - duration * part * parts_after, part);
    ended(clock, operations - part * (parts - 1));
  }

  Time entered() const { return entered_; }      // when the last hart began its measured part
  Time first_end() const { return first_end_; }  // when the first hart ended its part, or kNever
  unsigned shift() const { return shift_; }
  // Returns the number of the first span, which begins at first() << shift() ps.
  Time first() const { return first_; }
  template <class F>
  void each(F f) const {
    for (Time number = first_; number <= last_; ++number) f(spans_[number % kSpans]);
  }

 private:
  static constexpr std::size_t kSpans = 256;
  static constexpr uint64_t kParts = 32;   // parts into which done() divides many operations
  using Spans = std::array<Span, kSpans>;  // index: the span's number modulo kSpans

  void ended(Time clock, uint64_t operations) {
    while (std::max(last_, clock >> shift_) - std::min(first_, clock >> shift_) >= kSpans) widen();
    const Time number = clock >> shift_;
    first_ = std::min(first_, number);
    last_ = std::max(last_, number);
    add(spans_, number, {operations, clock});
  }
  static void add(Spans& spans, Time number, const Span& other) {
    Span& span = spans[number % kSpans];
    span.operations += other.operations;
    span.last = std::max(span.last, other.last);
  }
  void widen() {
    Spans wider{};
    for (Time number = first_; number <= last_; ++number)
      add(wider, number / 2, spans_[number % kSpans]);
    spans_ = wider;
    first_ /= 2;
    last_ /= 2;
    ++shift_;
  }

  Time entered_ = 0, first_end_ = kNever;
  unsigned shift_ = 0;
  Time first_ = kNever, last_ = 0;  // numbers of the first and the last span in use
  Spans spans_{};
};

}  // namespace uncore
