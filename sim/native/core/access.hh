// A memory operation as a core performs it, now or when it can; and what an atomic one does to a
// line, wherever the line is: in the core, or at a resolver (far atomics).
#pragma once

#include <cstring>
#include <type_traits>

#include "hart/port.hh"
#include "kernel/bytes.hh"
#include "kernel/time.hh"

namespace uncore {

struct Access {
  enum class Kind : uint8_t { none, load, store, amo, cas_pair, lr, sc, fence, write, read };
  Kind kind = Kind::none;
  Amo op = Amo::swap;
  uint8_t size = 0;
  bool posted = false;  // nobody waits for it, where it is done far away (C8)
  uint64_t address = 0;
  uint64_t value = 0, expected = 0;            // operands; write: what
  uint64_t value_high = 0, expected_high = 0;  // cas_pair

  uint64_t line() const { return address >> kLineShift; }
  // Drains the store buffer first; write and read are of another core's register.
  bool atomic() const { return kind >= Kind::amo; }
  bool operates() const { return kind == Kind::amo || kind == Kind::cas_pair; }
  bool writes() const { return kind == Kind::store || operates() || kind == Kind::sc; }
};

struct Outcome {
  uint64_t value = 0, high = 0;
  Time cost = 0;
};

// An AMO or a CAS of two words.
inline void operate(const Access& a, Bytes& data, Outcome& out) {
  const unsigned offset = a.address % kLineBytes;
  if (a.kind == Access::Kind::amo) {
    out.value = data.read(offset, a.size);
    data.write(offset, a.size, amo_apply(a.op, a.size, out.value, a.value, a.expected));
    return;
  }
  out.value = data.read(offset, 8);
  out.high = data.read(offset + 8, 8);
  if (out.value != a.expected || out.high != a.expected_high) return;
  data.write(offset, 8, a.value);
  data.write(offset + 8, 8, a.value_high);
}

// An access, or its outcome, as a message carries it.
template <class T>
void put(Bytes& data, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kLineBytes);
  std::memcpy(data.at.data(), &value, sizeof(T));
}
template <class T>
T taken(const Bytes& data) {
  T value;
  std::memcpy(&value, data.at.data(), sizeof(T));
  return value;
}

}  // namespace uncore
