// A memory operation as a core performs it, now or when it can.
#pragma once

#include "fabric/atomic.hh"
#include "storage/bytes.hh"
#include "time/time.hh"

namespace uncore {

struct Access {
  enum class Kind : uint8_t { none, load, store, amo, cas_pair, lr, sc, fence, write, read };
  Kind kind = Kind::none;
  Amo op = Amo::swap;
  uint8_t size = 0;
  bool posted = false;  // nobody waits for it, where it is done far away (C8)
  uint8_t order = 0;    // aq and rl; of a fence its sets
  uint64_t address = 0;
  uint64_t value = 0, expected = 0;            // operands; write: what
  uint64_t value_high = 0, expected_high = 0;  // cas_pair

  uint64_t line() const { return address >> kLineShift; }
  // It waits until the store buffer is empty; write and read are of another core's register.
  bool drains() const { return kind >= Kind::amo; }
  bool operates() const { return kind == Kind::amo || kind == Kind::cas_pair; }
  Operation operation() const {
    return {.op = op,
            .of_pair = kind == Kind::cas_pair,
            .offset = static_cast<uint8_t>(address % kLineBytes),
            .size = size,
            .operand = {value, value_high},
            .expected = {expected, expected_high}};
  }
  bool acquires() const { return order & kAcquire; }
  bool releases() const { return order & kRelease; }
  bool writes() const { return kind == Kind::store || operates() || kind == Kind::sc; }
};

struct Outcome {
  uint64_t value = 0, high = 0;
  Time cost = 0;

  void answer(Pair read) { value = read.low, high = read.high; }
};

}  // namespace uncore
