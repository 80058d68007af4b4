// Numbers of operations by span of time, in which steady.hh looks for a steady state.
//
// Interface: record_entry() and record_exit() when a hart begins and ends its measured part; done()
// for operations; the others return what was recorded. All spans are 2^shift() ps long, as short as
// kSpans of them allow from the first operation to the last. So the result does not depend on the
// order of calls, which is not that of time because cores run ahead of each other.
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
    Time last = 0;  // when the last of them was done
  };

  void record_entry(Time clock) { entered_ = std::max(entered_, clock); }
  void record_exit(Time clock) { left_ = std::min(left_, clock); }
  // Counts operations, each of which took `each`; the last ends at `clock`. If a program reports
  // many at once, the earlier ones ended earlier (W2).
  void done(Time clock, uint64_t operations, Time each) {
    const uint64_t parts = std::min(operations, kParts), part = operations / parts;
    for (uint64_t later = parts; later-- > 1;) ended(clock - each * part * later, part);
    ended(clock, operations - part * (parts - 1));
  }

  Time entered() const { return entered_; }  // when the last hart did
  Time left() const { return left_; }        // when the first one did; kNever: none has
  unsigned shift() const { return shift_; }
  // Number of the first span, which begins at first() << shift().
  Time first() const { return first_; }
  template <class F>
  void each(F f) const {
    for (Time number = first_; number <= last_; ++number) f(spans_[number % kSpans]);
  }

 private:
  static constexpr std::size_t kSpans = 256;
  static constexpr uint64_t kParts = 32;   // parts of operations reported at once
  using Spans = std::array<Span, kSpans>;  // each at its number modulo kSpans

  void ended(Time clock, uint64_t operations) {
    while (std::max(last_, clock >> shift_) - std::min(first_, clock >> shift_) >= kSpans) widen();
    const Time number = clock >> shift_;
    first_ = std::min(first_, number);
    last_ = std::max(last_, number);
    add(spans_, number, {operations, clock});
  }
  static void add(Spans& spans, Time number, const Span& more) {
    Span& span = spans[number % kSpans];
    span.operations += more.operations;
    span.last = std::max(span.last, more.last);
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

  Time entered_ = 0, left_ = kNever;
  unsigned shift_ = 0;
  Time first_ = kNever, last_ = 0;  // numbers of spans
  Spans spans_{};
};

}  // namespace uncore
