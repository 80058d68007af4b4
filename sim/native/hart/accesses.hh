// A hart's accesses: loads, stores and atomics, and what happens when the port has answered. Part
// of hart.hh.
//
// Loads and stores of memory need not be aligned; one that crosses a line is two accesses.
// An answer that comes later lands where the instruction said: until then the hart is suspended.
#pragma once

namespace uncore {

// A load that its port answers at once, where it has such; `now` takes what the port adds.
template <class Port>
template <class T, bool translated>
[[gnu::always_inline]] inline bool Hart<Port>::hits(const Instruction& in, uint64_t& now) {
  if constexpr (requires(Port& p, uint64_t& v) { p.template hits<translated>(v, 1u, v, v); }) {
    uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
    uint64_t value;
    if constexpr (translated) {
      const auto& page = mmu_->load(address);
      if (page.key != mmu_->key(address)) return false;
      address += page.offset;
    }
    if (address % sizeof(T) != 0 ||
        !port_.template hits<translated>(address, sizeof(T), now, value))
      return false;
    x[in.rd] = sign_extend(value, std::is_signed_v<T> ? sizeof(T) : 8);
    return true;
  }
  return false;
}

// The same of a store.
template <class Port>
template <class T, bool translated>
[[gnu::always_inline]] inline bool Hart<Port>::stores(const Instruction& in, uint64_t now) {
  if constexpr (requires(Port& p, uint64_t v) { p.template stores<translated>(v, 1u, v, v); }) {
    uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
    if (address % sizeof(T) != 0) return false;
    if constexpr (translated) {
      const auto& page = mmu_->store(address);
      if (page.key != mmu_->key(address)) return false;
      address += page.offset;
    }
    if (!port_.template stores<translated>(address, sizeof(T), static_cast<T>(x[in.rs2]), now))
      return false;
    spin_.effect();
    return true;
  }
  return false;
}

// The same of an LR. No effect by itself: what it locks, the next taken branch gives up.
template <class Port>
template <bool translated>
[[gnu::always_inline]] inline bool Hart<Port>::reserves(const Instruction& in, uint64_t& now) {
  if constexpr (requires(Port& p, uint64_t& v) { p.template reserves<translated>(v, 1u, v, v); }) {
    uint64_t address = x[in.rs1];
    uint64_t value;
    if (address % in.size != 0) return false;
    if constexpr (translated) {
      const auto& page = mmu_->load(address);
      if (page.key != mmu_->key(address)) return false;
      address += page.offset;
    }
    if (!port_.template reserves<translated>(address, in.size, now, value)) return false;
    attempting_ = true;
    x[in.rd] = sign_extend(value, in.size);
    return true;
  }
  return false;
}

template <class Port>
template <class T>
bool Hart<Port>::load(const Instruction& in, uint64_t box) {
  constexpr unsigned size = sizeof(T);
  const uint64_t asked = x[in.rs1] + static_cast<uint64_t>(in.imm);
  const Landing to{in.rd, kSink, std::is_signed_v<T> ? size : 8, in.length, 0, box};
  uint64_t address = asked;
  if (mmu_) [[unlikely]]
    if (const auto ends = translate(address, Right::read)) return *ends;
  if (address % size != 0 && is_apart(address, size)) [[unlikely]]
    return load_halves(asked, size, to);
  uint64_t value = 0;
  Answer answer;
  if (address >= ram) [[likely]] {
    if (!port_.mapped(address, size)) return trap(kLoadFault, asked);
    answer = port_.load(address, size, value);
  } else {
    spin_.effect();
    answer = port_.mmio(address, size, false, value);
  }
  return finish(answer, to, kLoadFault, asked, value);
}

template <class Port>
template <class T>
bool Hart<Port>::store(const Instruction& in) {
  constexpr unsigned size = sizeof(T);
  const uint64_t asked = x[in.rs1] + static_cast<uint64_t>(in.imm);
  spin_.effect();
  uint64_t value = static_cast<T>(x[in.rs2]);
  uint64_t address = asked;
  if (mmu_) [[unlikely]]
    if (const auto ends = translate(address, Right::write)) return *ends;
  if (address % size != 0 && is_apart(address, size)) [[unlikely]]
    return store_halves(asked, size, value, in.length);
  Answer answer;
  if (address >= ram) [[likely]] {
    if (!port_.mapped(address, size)) return trap(kStoreFault, asked);
    answer = port_.store(address, size, value);
  } else {
    answer = port_.mmio(address, size, true, value);
  }
  return finish(answer, {kSink, kSink, 8, in.length}, kStoreFault, asked, 0);
}

// ---- an access that crosses a line: two, the lower one first, each executed for itself

// Where the present one of the two is; both must be allowed before the first is made.
template <class Port>
std::optional<bool> Hart<Port>::reach_halves(uint64_t address, unsigned size, Right right,
                                             uint64_t& part) {
  const unsigned first = first_half(address), rest = size - first;
  uint64_t low = address, high = address + first;
  if (mmu_) {
    if (const auto ends = translate(low, right)) return ends;
    if (const auto ends = translate(high, right)) return ends;
  }
  const bool write = right == Right::write;
  if (low < ram || high < ram) return trap(write ? kStoreMisaligned : kLoadMisaligned, address);
  if (!port_.mapped(low, first) || !port_.mapped(high, rest))
    return trap(write ? kStoreFault : kLoadFault, address);
  part = halfway() ? high : low;
  return std::nullopt;
}

template <class Port>
bool Hart<Port>::load_halves(uint64_t address, unsigned size, Landing to) {
  uint64_t part = 0, value = 0;
  if (const auto ends = reach_halves(address, size, Right::read, part)) return *ends;
  to.first = first_half(address);
  const Answer answer = port_.load(part, halfway() ? size - to.first : to.first, value);
  if (answer != Answer::now) return finish(answer, to, kLoadFault, address, 0);
  land_half(to, value);
  return true;
}

template <class Port>
bool Hart<Port>::store_halves(uint64_t address, unsigned size, uint64_t value, uint8_t length) {
  uint64_t at = 0;
  if (const auto ends = reach_halves(address, size, Right::write, at)) return *ends;
  Landing to{kSink, kSink, 8, length};
  to.first = first_half(address);
  const unsigned done = half_.size, part = done ? size - done : to.first;
  const Answer answer = port_.store(at, part, zero_extend(value >> 8 * done, part));
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

// Atomics work on RAM only. The address it has there, or how the instruction ends without.
template <class Port>
std::optional<bool> Hart<Port>::reach_atomic(uint64_t& address, unsigned size, Right right) {
  const uint64_t asked = address;
  const bool write = right == Right::write;
  if (address % size != 0) return trap(write ? kStoreMisaligned : kLoadMisaligned, asked);
  if (mmu_) [[unlikely]]
    if (const auto ends = translate(address, right)) return ends;
  if (address >= ram && port_.mapped(address, size)) [[likely]]
    return std::nullopt;
  return trap(write ? kStoreFault : kLoadFault, asked);
}

template <class Port>
bool Hart<Port>::atomic(const Instruction& in) {
  uint64_t address = x[in.rs1];
  if (const auto ends = reach_atomic(address, in.size, Right::write)) return *ends;
  spin_.effect();
  uint64_t old = 0;
  const unsigned order = static_cast<unsigned>(in.imm) | (in.rd == kSink ? kUnused : 0);
  const Answer answer = port_.amo(in.amo, address, in.size, x[in.rs2], source(in.rd), old, order);
  return finish(answer, {in.rd, kSink, in.size, in.length}, kStoreFault, address, old);
}

// amocas.q. A pair that starts at x0 reads as zero, and is not written.
template <class Port>
bool Hart<Port>::atomic_pair(const Instruction& in) {
  uint64_t address = x[in.rs1];
  if (const auto ends = reach_atomic(address, 16, Right::write)) return *ends;
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
  uint64_t address = x[in.rs1];
  if (const auto ends = reach_atomic(address, in.size, Right::read)) return *ends;
  spin_.effect();
  attempting_ = true;
  uint64_t value = 0;
  const Answer answer = port_.lr(address, in.size, value, static_cast<unsigned>(in.imm));
  return finish(answer, {in.rd, kSink, in.size, in.length}, kLoadFault, address, value);
}

template <class Port>
bool Hart<Port>::store_conditional(const Instruction& in) {
  uint64_t address = x[in.rs1];
  if (const auto ends = reach_atomic(address, in.size, Right::write)) return *ends;
  spin_.effect();
  attempting_ = false;
  uint64_t failed = 1;
  const Answer answer = port_.sc(address, in.size, zero_extend(x[in.rs2], in.size), failed,
                                 static_cast<unsigned>(in.imm));
  return finish(answer, {in.rd, kSink, 8, in.length}, kStoreFault, address, failed);
}

// Has its port nothing to do?
template <class Port>
[[gnu::always_inline]] inline bool Hart<Port>::passes(const Instruction& fence) const {
  const auto sets = static_cast<unsigned>(fence.imm);
  if constexpr (requires(const Port& p) { p.passes(sets, sets); })
    return port_.passes(sets >> 4 & 15, sets & 15);
  return false;
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
  if (mmu_) [[unlikely]]
    wrote();
  if (mmu_ && std::exchange(mmu_->walk.waits, false)) {
    mmu_->walk.value = value;
    mmu_->walk.answered = mmu_->walk.active;
    return;
  }
  if (landing_.first) [[unlikely]]
    return land_half(landing_, value);
  land(landing_, value, high);
}

}  // namespace uncore
