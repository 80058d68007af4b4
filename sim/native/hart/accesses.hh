// A hart's accesses: loads, stores and atomics, and what happens when the port has answered. Part
// of hart.hh.
//
// Loads and stores of memory need not be aligned; one that crosses a line is two accesses.
// An answer that comes later lands where the instruction said: until then the hart is suspended.
#pragma once

namespace uncore {

// A load that its port answers at once, where it has such; `now` takes what the port adds.
template <class Port>
template <class T>
[[gnu::always_inline]] inline bool Hart<Port>::hits(const Instruction& in, uint64_t& now) {
  if constexpr (requires(Port& p, uint64_t& v) { p.hits(v, 1u, v, v); }) {
    const uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
    uint64_t value;
    if (address % sizeof(T) != 0 || !port_.hits(address, sizeof(T), now, value)) return false;
    x[in.rd] = sign_extend(value, std::is_signed_v<T> ? sizeof(T) : 8);
    return true;
  }
  return false;
}

// The same of a store.
template <class Port>
template <class T>
[[gnu::always_inline]] inline bool Hart<Port>::stores(const Instruction& in, uint64_t now) {
  if constexpr (requires(Port& p, uint64_t v) { p.stores(v, 1u, v, v); }) {
    const uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
    if (address % sizeof(T) != 0) return false;
    if (!port_.stores(address, sizeof(T), static_cast<T>(x[in.rs2]), now)) return false;
    spin_.effect();
    return true;
  }
  return false;
}

template <class Port>
template <class T>
bool Hart<Port>::load(const Instruction& in, uint64_t box) {
  constexpr unsigned size = sizeof(T);
  const uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
  const Landing to{in.rd, kSink, std::is_signed_v<T> ? size : 8, in.length, 0, box};
  if (address % size != 0 && is_apart(address, size)) [[unlikely]]
    return load_halves(address, size, to);
  uint64_t value = 0;
  Answer answer;
  if (address >= ram) [[likely]] {
    if (!port_.mapped(address, size)) return trap(kLoadFault, address);
    answer = port_.load(address, size, value);
  } else {
    spin_.effect();
    answer = port_.mmio(address, size, false, value);
  }
  return finish(answer, to, kLoadFault, address, value);
}

template <class Port>
template <class T>
bool Hart<Port>::store(const Instruction& in) {
  constexpr unsigned size = sizeof(T);
  const uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
  spin_.effect();
  uint64_t value = static_cast<T>(x[in.rs2]);
  if (address % size != 0 && is_apart(address, size)) [[unlikely]]
    return store_halves(address, size, value, in.length);
  Answer answer;
  if (address >= ram) [[likely]] {
    if (!port_.mapped(address, size)) return trap(kStoreFault, address);
    answer = port_.store(address, size, value);
  } else {
    answer = port_.mmio(address, size, true, value);
  }
  return finish(answer, {kSink, kSink, 8, in.length}, kStoreFault, address, 0);
}

// ---- an access that crosses a line: two, the lower one first, each executed for itself

template <class Port>
bool Hart<Port>::load_halves(uint64_t address, unsigned size, Landing to) {
  if (address < ram) return trap(kLoadMisaligned, address);  // of a device
  if (!port_.mapped(address, size)) return trap(kLoadFault, address);
  to.first = first_half(address);
  const unsigned done = half_.size;
  uint64_t value = 0;
  const Answer answer = port_.load(address + done, done ? size - done : to.first, value);
  if (answer != Answer::now) return finish(answer, to, kLoadFault, address, 0);
  land_half(to, value);
  return true;
}

template <class Port>
bool Hart<Port>::store_halves(uint64_t address, unsigned size, uint64_t value, uint8_t length) {
  if (address < ram) return trap(kStoreMisaligned, address);
  if (!port_.mapped(address, size)) return trap(kStoreFault, address);
  Landing to{kSink, kSink, 8, length};
  to.first = first_half(address);
  const unsigned done = half_.size, part = done ? size - done : to.first;
  const Answer answer = port_.store(address + done, part, zero_extend(value >> 8 * done, part));
  if (answer != Answer::now) return finish(answer, to, kStoreFault, address, 0);
  land_half(to, 0);
  return true;
}

// After the first the instruction is executed once more; with the second it retires.
template <class Port>
void Hart<Port>::land_half(Landing to, uint64_t value) {
  if (!halfway()) {
    half_ = {value, to.first};
    return;
  }
  const Half low = half_;
  half_ = {};
  land(to, low.value | value << 8 * low.size, 0);
}

// ---- atomics

// Atomics work on RAM only. 0, or the cause of the trap they raise instead.
template <class Port>
uint64_t Hart<Port>::refused(uint64_t address, unsigned size, Cause misaligned, Cause fault) const {
  if (address % size != 0) return misaligned;
  if (address < ram || !port_.mapped(address, size)) return fault;
  return 0;
}

template <class Port>
bool Hart<Port>::atomic(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, in.size, kStoreMisaligned, kStoreFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  uint64_t old = 0;
  const unsigned order = static_cast<unsigned>(in.imm) | (in.rd == kSink ? kUnused : 0);
  const Answer answer = port_.amo(in.amo, address, in.size, x[in.rs2], source(in.rd), old, order);
  return finish(answer, {in.rd, kSink, in.size, in.length}, kStoreFault, address, old);
}

// amocas.q. A pair that starts at x0 reads as zero, and is not written.
template <class Port>
bool Hart<Port>::atomic_pair(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, 16, kStoreMisaligned, kStoreFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  const auto pair = [this](unsigned r) {
    return r == 0 || r == kSink ? Pair{0, 0} : Pair{x[r], x[r + 1]};
  };
  Pair old = {};
  const Answer answer =
      port_.cas_pair(address, pair(in.rs2), pair(in.rd), old, static_cast<unsigned>(in.imm));
  const auto rd_high = static_cast<uint8_t>(in.rd == kSink ? kSink : in.rd + 1);
  return finish(answer, {in.rd, rd_high, 8, in.length}, kStoreFault, address, old.low, old.high);
}

template <class Port>
bool Hart<Port>::load_reserved(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, in.size, kLoadMisaligned, kLoadFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  attempting_ = true;
  uint64_t value = 0;
  const Answer answer = port_.lr(address, in.size, value, static_cast<unsigned>(in.imm));
  return finish(answer, {in.rd, kSink, in.size, in.length}, kLoadFault, address, value);
}

template <class Port>
bool Hart<Port>::store_conditional(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, in.size, kStoreMisaligned, kStoreFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  attempting_ = false;
  uint64_t failed = 1;
  const Answer answer = port_.sc(address, in.size, zero_extend(x[in.rs2], in.size), failed,
                                 static_cast<unsigned>(in.imm));
  return finish(answer, {in.rd, kSink, 8, in.length}, kStoreFault, address, failed);
}

// No effect by itself: after it, a waiting loop waits as before.
template <class Port>
bool Hart<Port>::fence(const Instruction& in) {
  const auto sets = static_cast<unsigned>(in.imm);
  return finish(port_.fence(sets >> 4 & 15, sets & 15), {kSink, kSink, 8, in.length}, 0, 0, 0);
}

// ---- the end of an access

template <class Port>
bool Hart<Port>::finish(Answer answer, Landing to, uint64_t fault, uint64_t address, uint64_t value,
                        uint64_t high) {
  if (answer == Answer::now) [[likely]] {
    land(to, value, high);
    return true;
  }
  if (answer == Answer::fault) return trap(fault, address);
  if (answer == Answer::retry) return stop(Stop::retry);
  spin_.effect();
  landing_ = to;
  suspended_ = true;
  return stop(Stop::later);
}

template <class Port>
void Hart<Port>::land(Landing to, uint64_t value, uint64_t high) {
  x[to.rd] = sign_extend(value, to.sign_size) | to.box;
  if (to.rd_high != kSink) x[to.rd_high] = high;
  retire(to.length, cost.instruction);
}

template <class Port>
void Hart<Port>::resume(uint64_t value, uint64_t high) {
  suspended_ = false;
  if (landing_.first) [[unlikely]]
    return land_half(landing_, value);
  land(landing_, value, high);
}

}  // namespace uncore
