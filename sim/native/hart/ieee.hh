// IEEE 754 binary formats, and the exact numbers that operations compute before they round.
//
// Interface: Single and Double interpret the bits of a value; Number is exact, and units() rounds
// it in a given mode. Invariant: the magnitude of a Number has at most kWidth + 1 bits.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace uncore::ieee {

__extension__ using Wide = unsigned __int128;

enum Rounding : unsigned { nearest_even, to_zero, down, up, nearest_away };  // values of frm
enum Flag : unsigned {                                                       // bits of fflags
  inexact = 1,
  underflow = 2,
  overflow = 4,
  divided_by_zero = 8,
  invalid = 16
};

template <unsigned kBits, unsigned kFractionBits>
struct Format {
  static constexpr unsigned kBytes = kBits / 8, kFraction = kFractionBits;
  static constexpr int kPrecision = kFraction + 1;
  static constexpr int kLargest =
      (1 << (kBits - kFraction - 2)) - 1;  // exponents of normal numbers
  static constexpr int kSmallest = 1 - kLargest;
  static constexpr uint64_t kSign = uint64_t{1} << (kBits - 1);
  static constexpr uint64_t kHidden = uint64_t{1} << kFraction;
  static constexpr uint64_t kInfinity = kSign - kHidden;
  static constexpr uint64_t kQuiet = kHidden >> 1;
  static constexpr uint64_t kNan = kInfinity | kQuiet;

  // A register contains a narrower value with all bits above it set (NaN boxing). A register whose
  // upper bits are not all set reads as a NaN.
  static constexpr uint64_t kBox = ~(kSign | (kSign - 1));
  static uint64_t unboxed(uint64_t r) { return (r & kBox) == kBox ? r & ~kBox : kNan; }
  static uint64_t boxed(uint64_t a) { return a | kBox; }

  static bool negative(uint64_t a) { return (a & kSign) != 0; }
  static uint64_t magnitude(uint64_t a) { return a & ~kSign; }
  static bool is_infinite(uint64_t a) { return magnitude(a) == kInfinity; }
  static bool is_nan(uint64_t a) { return magnitude(a) > kInfinity; }
  static bool is_signalling(uint64_t a) { return is_nan(a) && !(a & kQuiet); }
  static bool is_zero(uint64_t a) { return magnitude(a) == 0; }
};
using Single = Format<32, 23>;
using Double = Format<64, 52>;

inline constexpr int kWidth =
    125;  // bits of a magnitude: two of them can be added without overflow

// The number magnitude * 2^exponent. If `more`, the exact value is larger in magnitude, by less
// than one unit of the magnitude.
struct Number {
  bool negative = false;
  int exponent = 0;
  Wide magnitude = 0;
  bool more = false;
};

constexpr int width(Wide v) {
  const auto high = static_cast<uint64_t>(v >> 64);
  return high ? 64 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(v));
}

// Returns the same number with its leading bit at the highest position allowed; or, if the exponent
// must be `even` and would be odd, at the next lower position.
constexpr Number scaled(Number n, bool even = false) {
  int shift = kWidth - width(n.magnitude);
  shift -= even && (n.exponent - shift) % 2 != 0;
  n.magnitude <<= shift;
  n.exponent -= shift;
  return n;
}

// A number in units of 2^exponent, rounded to an integer. `exact`: rounding lost nothing.
struct Units {
  Wide count;
  bool exact;
};

constexpr Units units(const Number& n, int exponent, unsigned mode) {
  const int shift = exponent - n.exponent;
  if (shift <= 0) return {n.magnitude << -shift, !n.more};
  const bool beyond = shift > kWidth + 1;  // the number is less than half a unit
  const Wide count = beyond ? 0 : n.magnitude >> shift;
  const Wide rest = beyond ? n.magnitude != 0 : n.magnitude - (count << shift);
  const Wide half = beyond ? 2 : Wide{1} << (shift - 1);
  if (rest == 0 && !n.more) return {count, true};
  const bool above = rest > half || (rest == half && n.more);
  const bool tie = rest == half && !n.more;
  const bool increments = mode == nearest_even   ? above || (tie && (count & 1))
                          : mode == nearest_away ? above || tie
                                                 : mode == (n.negative ? down : up);
  return {count + increments, false};
}

// Returns the sum of two numbers. The sign of a zero sum is meaningless.
constexpr Number sum(Number a, Number b) {
  if (a.magnitude == 0) return b;
  if (b.magnitude == 0) return a;
  a = scaled(a), b = scaled(b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.magnitude < b.magnitude))
    std::swap(a, b);
  const int shift = a.exponent - b.exponent;
  const Wide low = shift > kWidth ? 0 : b.magnitude >> shift;
  a.more = shift > kWidth || low << shift != b.magnitude;
  if (a.negative == b.negative)
    a.magnitude += low;
  else
    a.magnitude -= low + a.more;
  return a;
}

// Returns the quotient, rounded down. The built-in 128-bit division is not used, because it would
// link functions of the compiler's runtime library.
constexpr Wide quotient(Wide a, Wide b) {
  Wide result = 0;
  for (int shift = width(a) - width(b); shift >= 0; --shift) {
    const bool fits = b << shift <= a;
    if (fits) a -= b << shift;
    result = result << 1 | fits;
  }
  return result;
}

constexpr Wide square_root(Wide v) {
  Wide root = 0, bit = Wide{1} << 126;
  while (bit > v) bit >>= 2;
  for (; bit; bit >>= 2) {
    const bool fits = v >= root + bit;
    if (fits) v -= root + bit;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return root;
}

}  // namespace uncore::ieee
