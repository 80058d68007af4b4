// A memory operation that a core performs, at once or later, and its outcome.
//
// An Access is made by a hart's port (core/issuing.hh) or by the simulated kernel's work
// (os/work.hh). Invariant: it is a plain value, and every rule of the core reads the same fields.
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
  bool posted = false;  // the hart does not wait for the access if the resolver performs it (C8.5)
  uint8_t order = 0;    // kAcquire, kRelease; for a fence: predecessor set << 4 | successor set
  uint64_t address = 0;
  uint64_t line = 0;                           // the line's number, once the access has been issued
  uint64_t value = 0, expected = 0;            // operands; for `write`: the register's new value
  uint64_t value_high = 0, expected_high = 0;  // upper halves of a cas_pair's operands

  // Returns the offset of the access's first byte in the line.
  unsigned offset() const { return static_cast<unsigned>(address - (line << kUnitShift)); }
  // Returns true if the store buffer must be empty first (H4). `write` and `read` access a register
  // of another core.
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

// The result of an access: the value read, and how long the hart takes for the access, in ps, from
// the time at which it is performed.
struct Outcome {
  uint64_t value = 0, high = 0;
  Time cost = 0;

  void answer(Pair read) { value = read.low, high = read.high; }
};

}  // namespace uncore
