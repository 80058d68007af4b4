// Turns the memory operations of a hart's port (hart/port.hh) into Access values.
//
// `Port` is the derived class. It offers issue(access, outcome), which performs the access at once
// and puts the value read into `outcome`, or answers `later` and leaves the access pending.
#pragma once

#include <utility>

#include "core/access.hh"
#include "guest/registers.hh"

namespace uncore {

template <class Port>
class IssuingPort {
  using K = Access::Kind;

 public:
  Answer load(uint64_t address, unsigned size, uint64_t& value) {
    return issue({.kind = K::load, .size = narrow(size), .address = address}, value);
  }
  Answer store(uint64_t address, unsigned size, uint64_t value) {
    uint64_t nothing;
    return issue({.kind = K::store, .size = narrow(size), .address = address, .value = value},
                 nothing);
  }
  Answer amo(Amo op, uint64_t address, unsigned size, uint64_t operand, uint64_t expected,
             uint64_t& old, unsigned order) {
    return issue({.kind = K::amo,
                  .op = op,
                  .size = narrow(size),
                  .posted = order == kUnused,
                  .order = narrow(order),
                  .address = address,
                  .value = operand,
                  .expected = expected},
                 old);
  }
  Answer cas_pair(uint64_t address, Pair operand, Pair expected, Pair& old, unsigned order) {
    Outcome out;
    const Answer answer = port().issue({.kind = K::cas_pair,
                                        .size = 16,
                                        .order = narrow(order),
                                        .address = address,
                                        .value = operand.low,
                                        .expected = expected.low,
                                        .value_high = operand.high,
                                        .expected_high = expected.high},
                                       out);
    old = {out.value, out.high};
    return answer;
  }
  Answer lr(uint64_t address, unsigned size, uint64_t& value, unsigned order) {
    return issue({.kind = K::lr, .size = narrow(size), .order = narrow(order), .address = address},
                 value);
  }
  Answer sc(uint64_t address, unsigned size, uint64_t value, uint64_t& sc_result, unsigned order) {
    return issue({.kind = K::sc,
                  .size = narrow(size),
                  .order = narrow(order),
                  .address = address,
                  .value = value},
                 sc_result);
  }
  // Accesses a register of another core.
  Answer far_register(Register, uint64_t address, bool write, uint64_t& value) {
    return issue({.kind = write ? K::write : K::read, .address = address, .value = value}, value);
  }

 private:
  static uint8_t narrow(unsigned size) { return static_cast<uint8_t>(size); }
  Port& port() { return static_cast<Port&>(*this); }
  Answer issue(Access&& access, uint64_t& value) {
    Outcome out;
    const Answer answer = port().issue(std::move(access), out);
    value = out.value;
    return answer;
  }
};

}  // namespace uncore
