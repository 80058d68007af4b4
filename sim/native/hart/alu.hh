// Functions and types that the rows of isa/ use to express what instructions compute.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hart/port.hh"

// u converts to unsigned, s to signed; word sign-extends the lower 32 bits.
namespace uncore::meaning {

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

constexpr uint64_t u(int64_t v) { return static_cast<uint64_t>(v); }
constexpr int64_t s(uint64_t v) { return static_cast<int64_t>(v); }
constexpr uint64_t word(uint64_t v) { return sign_extend(v, 4); }
constexpr Wide wide(int64_t v) { return v; }
constexpr Wide wide(uint64_t v) { return v; }
constexpr UWide uwide(uint64_t v) { return v; }
constexpr uint64_t high(UWide v) { return static_cast<uint64_t>(v >> 64); }
constexpr uint64_t bit(uint64_t number) { return uint64_t{1} << (number & 63); }

// Returns v with each nonzero byte replaced by 0xff (orc.b).
constexpr uint64_t whole_bytes(uint64_t v) {
  constexpr uint64_t kLowBits = 0x7f7f7f7f7f7f7f7f;
  const uint64_t top_bits = (((v & kLowBits) + kLowBits) | v) & ~kLowBits;  // of nonzero bytes
  return (top_bits - (top_bits >> 7)) | top_bits;
}
constexpr uint64_t bytes_reversed(uint64_t v) {
  v = (v & 0x00ff00ff00ff00ff) << 8 | (v >> 8 & 0x00ff00ff00ff00ff);
  v = (v & 0x0000ffff0000ffff) << 16 | (v >> 16 & 0x0000ffff0000ffff);
  return v << 32 | v >> 32;
}

// Division never traps. Division by zero gives a quotient of all ones and the dividend as
// remainder; the only signed overflow gives the dividend as quotient and remainder zero.
template <class T>
constexpr bool overflows(T a, T b) {
  return std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
}
template <class T>
constexpr T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  return overflows(a, b) ? a : a / b;
}
template <class T>
constexpr T remainder_of(T a, T b) {
  if (b == 0) return a;
  return overflows(a, b) ? 0 : a % b;
}

}  // namespace uncore::meaning
