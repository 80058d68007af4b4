// IEEE 754 binary floating-point arithmetic, computed with integers, so that it is the same on
// every host. It has all five rounding modes, detects tininess after rounding, and returns
// canonical NaNs, as RISC-V requires.
//
// Every operation computes a Number, which is exact or marked as slightly too small (Number::more),
// and rounds it once.
//
// Interface: Arithmetic<Single>, Arithmetic<Double>: operands and results are bit patterns of that
// format. Invariant: `flags` has the exception flags of all operations since construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hart/ieee.hh"

namespace uncore::ieee {

template <class F>
class Arithmetic {
 public:
  explicit Arithmetic(unsigned mode) : mode(mode) {}

  const unsigned mode;
  unsigned flags = 0;

  uint64_t add(uint64_t a, uint64_t b) { return fused(a, kUnity, b); }
  uint64_t subtract(uint64_t a, uint64_t b) { return add(a, b ^ F::kSign); }
  uint64_t multiply(uint64_t a, uint64_t b);
  uint64_t divide(uint64_t a, uint64_t b);
  uint64_t root(uint64_t a);
  // a * b + c
  uint64_t fused(uint64_t a, uint64_t b, uint64_t c);

  uint64_t least(uint64_t a, uint64_t b) { return choose(a, b, before(a, b)); }
  uint64_t greatest(uint64_t a, uint64_t b) { return choose(a, b, before(b, a)); }
  bool equal(uint64_t a, uint64_t b);
  bool less(uint64_t a, uint64_t b, bool or_equal);
  static uint64_t classify(uint64_t a);

  template <class Integer>
  uint64_t to_integer(uint64_t a);
  template <class Integer>
  uint64_t from_integer(uint64_t value);
  template <class From>
  uint64_t from(uint64_t a);

 private:
  template <class>
  friend class Arithmetic;
  static constexpr uint64_t kUnity = uint64_t{F::kLargest} << F::kFraction;

  static Number number(uint64_t a) {
    const auto exponent = static_cast<int>(F::magnitude(a) >> F::kFraction);
    const uint64_t fraction = a & (F::kHidden - 1);
    const int least_exponent = F::kSmallest - static_cast<int>(F::kFraction);
    if (exponent == 0) return {F::negative(a), least_exponent, fraction};
    return {F::negative(a), least_exponent + exponent - 1, fraction | F::kHidden};
  }
  static uint64_t infinity(bool negative) { return F::kInfinity | (negative ? F::kSign : 0); }
  // Returns true if an operand is a NaN. A signalling NaN raises `invalid`.
  bool is_nan(uint64_t a, uint64_t b) {
    if (F::is_signalling(a) || F::is_signalling(b)) flags |= invalid;
    return F::is_nan(a) || F::is_nan(b);
  }
  uint64_t none() {
    flags |= invalid;
    return F::kNan;
  }
  // Returns true if a is less than b; -0 is less than 0.
  static bool before(uint64_t a, uint64_t b) {
    const auto rank = [](uint64_t v) {
      const auto magnitude = static_cast<int64_t>(F::magnitude(v));
      return F::negative(v) ? -magnitude - 1 : magnitude;
    };
    return rank(a) < rank(b);
  }
  uint64_t choose(uint64_t a, uint64_t b, bool first) {
    if (!is_nan(a, b)) return first ? a : b;
    if (F::is_nan(a)) return F::is_nan(b) ? F::kNan : b;
    return a;
  }

  uint64_t rounded(const Number& n);
  uint64_t overflowed(bool negative);
  bool is_tiny(const Number& n, int leading) const;
};

template <class F>
uint64_t Arithmetic<F>::rounded(const Number& n) {
  const uint64_t sign = n.negative ? F::kSign : 0;
  if (n.magnitude == 0) return sign;
  constexpr int kFraction = F::kFraction;
  const int leading = n.exponent + width(n.magnitude) - 1;
  const int least_exponent = std::max(leading, F::kSmallest);
  const auto [count, exact] = units(n, least_exponent - kFraction, mode);
  // The hidden bit, and a carry out of it, add to the exponent.
  const uint64_t bits = (static_cast<uint64_t>(least_exponent - F::kSmallest) << kFraction) +
                        static_cast<uint64_t>(count);
  if (bits >= F::kInfinity) return sign | overflowed(n.negative);
  if (!exact) flags |= is_tiny(n, leading) ? underflow | inexact : +inexact;
  return sign | bits;
}

template <class F>
uint64_t Arithmetic<F>::overflowed(bool negative) {
  flags |= overflow | inexact;
  const bool inwards = mode == to_zero || mode == (negative ? up : down);
  return F::kInfinity - inwards;
}

// Returns true if the result, rounded as if the exponent range had no lower end, is smaller than
// every normal number.
template <class F>
bool Arithmetic<F>::is_tiny(const Number& n, int leading) const {
  if (leading != F::kSmallest - 1) return leading < F::kSmallest;
  constexpr int kFraction = F::kFraction;
  return units(n, leading - kFraction, mode).count >> F::kPrecision == 0;
}

template <class F>
uint64_t Arithmetic<F>::multiply(uint64_t a, uint64_t b) {
  if (is_nan(a, b)) return F::kNan;
  const bool negative = F::negative(a) != F::negative(b);
  if (F::is_infinite(a) || F::is_infinite(b))
    return F::is_zero(a) || F::is_zero(b) ? none() : infinity(negative);
  const Number x = number(a), y = number(b);
  return rounded({negative, x.exponent + y.exponent, x.magnitude * y.magnitude});
}

template <class F>
uint64_t Arithmetic<F>::fused(uint64_t a, uint64_t b, uint64_t c) {
  const bool negative = F::negative(a) != F::negative(b);
  const bool infinite = F::is_infinite(a) || F::is_infinite(b);
  const bool none_of_both = is_nan(a, b), none_of_all = is_nan(c, c) || none_of_both;
  if (infinite && !none_of_both && (F::is_zero(a) || F::is_zero(b))) return none();
  if (none_of_all) return F::kNan;
  if (infinite)
    return F::is_infinite(c) && F::negative(c) != negative ? none() : infinity(negative);
  if (F::is_infinite(c)) return c;
  const Number x = number(a), y = number(b), z = number(c);
  Number all = sum({negative, x.exponent + y.exponent, x.magnitude * y.magnitude}, z);
  if (all.magnitude == 0) all.negative = negative == z.negative ? negative : mode == down;
  return rounded(all);
}

template <class F>
uint64_t Arithmetic<F>::divide(uint64_t a, uint64_t b) {
  if (is_nan(a, b)) return F::kNan;
  const bool negative = F::negative(a) != F::negative(b);
  if (F::is_infinite(a)) return F::is_infinite(b) ? none() : infinity(negative);
  if (F::is_zero(b)) {
    if (F::is_zero(a)) return none();
    flags |= divided_by_zero;
    return infinity(negative);
  }
  if (F::is_infinite(b) || F::is_zero(a)) return rounded({negative});
  const Number x = scaled(number(a)), y = number(b);
  const Wide rounded_down = quotient(x.magnitude, y.magnitude);
  return rounded(
      {negative, x.exponent - y.exponent, rounded_down, rounded_down * y.magnitude != x.magnitude});
}

template <class F>
uint64_t Arithmetic<F>::root(uint64_t a) {
  if (is_nan(a, a)) return F::kNan;
  if (F::is_zero(a)) return a;
  if (F::negative(a)) return none();
  if (F::is_infinite(a)) return a;
  const Number x = scaled(number(a), true);
  const Wide rounded_down = square_root(x.magnitude);
  return rounded({false, x.exponent / 2, rounded_down, rounded_down * rounded_down != x.magnitude});
}

template <class F>
bool Arithmetic<F>::equal(uint64_t a, uint64_t b) {
  if (is_nan(a, b)) return false;
  return a == b || (F::is_zero(a) && F::is_zero(b));
}

// Raises `invalid` for quiet NaNs, too, because flt and fle are signalling comparisons.
template <class F>
bool Arithmetic<F>::less(uint64_t a, uint64_t b, bool or_equal) {
  if (is_nan(a, b)) {
    flags |= invalid;
    return false;
  }
  const bool same = equal(a, b);
  return same ? or_equal : before(a, b);
}

// Returns the result of fclass: a mask with the bit of the number's class set.
template <class F>
uint64_t Arithmetic<F>::classify(uint64_t a) {
  enum : unsigned { kInfinite, kNormal, kSubnormal, kZero, kSignalling = 8, kQuietNan };
  if (F::is_nan(a)) return 1u << (F::is_signalling(a) ? kSignalling : kQuietNan);
  unsigned kind = kNormal;
  if (F::is_infinite(a)) kind = kInfinite;
  if (F::magnitude(a) < F::kHidden) kind = kSubnormal;
  if (F::is_zero(a)) kind = kZero;
  return 1u << (F::negative(a) ? kind : 7 - kind);
}

// Converts to an integer. A value out of range gives the nearest integer in range, a NaN the
// largest.
template <class F>
template <class Integer>
uint64_t Arithmetic<F>::to_integer(uint64_t a) {
  using Limits = std::numeric_limits<Integer>;
  const bool negative = F::negative(a) && !F::is_nan(a);
  const Number x = number(a);
  const bool huge = F::magnitude(a) >= F::kInfinity || x.exponent > 64;
  const auto [count, exact] = huge ? Units{0, true} : units(x, 0, mode);
  const Wide limit = negative ? Wide{0} - static_cast<Wide>(Limits::min()) : Wide{Limits::max()};
  if (huge || count > limit) {
    flags |= invalid;
    return static_cast<uint64_t>(negative ? Limits::min() : Limits::max());
  }
  if (!exact) flags |= inexact;
  const auto value = static_cast<uint64_t>(count);
  return static_cast<uint64_t>(static_cast<Integer>(negative ? -value : value));
}

template <class F>
template <class Integer>
uint64_t Arithmetic<F>::from_integer(uint64_t value) {
  const auto integer = static_cast<Integer>(value);
  const bool negative = integer < 0;
  const auto wide = static_cast<uint64_t>(integer);  // sign-extended if Integer is signed
  return rounded({negative, 0, negative ? -wide : wide});
}

template <class F>
template <class From>
uint64_t Arithmetic<F>::from(uint64_t a) {
  if (From::is_signalling(a)) flags |= invalid;
  if (From::is_nan(a)) return F::kNan;
  if (From::is_infinite(a)) return infinity(From::negative(a));
  return rounded(Arithmetic<From>::number(a));
}

}  // namespace uncore::ieee
