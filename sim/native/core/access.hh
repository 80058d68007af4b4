// A memory operation as a core performs it (now, or later when it can), and its outcome.
//
// Invariant: an Access is a plain value; a hart's port makes it (core/issuing.hh), the kernel's
// flows too (os/work.hh), and every rule of the core reads the same fields.
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
  bool posted = false;  // the hart does not wait for the access where it is done far away (C8.5)
  uint8_t order = 0;    // kAcquire, kRelease; of a fence: predecessor set << 4 | successor set
  uint64_t address = 0;
  uint64_t line = 0;                           // the line's number, once the access has been issued
  uint64_t value = 0, expected = 0;            // operands; of `write`: the register's new value
  uint64_t value_high = 0, expected_high = 0;  // upper halves of a cas_pair's operands

  // Returns the offset of the access's first byte in the line.
  unsigned offset() const { return static_cast<unsigned>(address - (line << kUnitShift)); }
  // Must the store buffer be empty first (H4)? `write` and `read` are of another core's register.
  bool drains() const { return kind >= Kind::amo; }
  bool is_atomic() const { return kind >= Kind::amo && kind <= Kind::sc; }
  bool operates() const { return kind == Kind::amo || kind == Kind::cas_pair; }
  Operation operation() const {
    return {.op = op,
            .of_pair = kind == Kind::cas_pair,
            .offset = static_cast<uint8_t>(offset()),
            .size = size,
            .operand = {value, value_high},
            .expected = {expected, expected_high}};
  }
  bool acquires() const { return order & kAcquire; }
  bool releases() const { return order & kRelease; }
  bool writes() const { return kind == Kind::store || operates() || kind == Kind::sc; }
};

// The value that an access has read, and how long, in ps, its hart takes for it from the time at
// which it is performed.
struct Outcome {
  uint64_t value = 0, high = 0;
  Time cost = 0;

  void answer(Pair read) { value = read.low, high = read.high; }
};

}  // namespace uncore
