"""Floating point according to the RISC-V manual: results are computed as exact rational numbers and
rounded once.

    OPERATIONS[name].execute(format, mode, registers) -> the value of rd, and the flags

The hart computes with integers and shifts. Tests compare the hart with this independent
computation, and both with QEMU.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

INEXACT, UNDERFLOW, OVERFLOW, DIVIDED_BY_ZERO, INVALID = 1, 2, 4, 8, 16
MODES = ("rne", "rtz", "rdn", "rup", "rmm")
Result = tuple[int, int]  # bits of the result, and flags
Number = Fraction | float  # exact, except that infinities and NaN are floats


@dataclass(frozen=True)
class Format:
    letter: str
    bits: int
    fraction_bits: int  # number of bits of the fraction

    @property
    def max_exponent(self) -> int:
        """The largest exponent of normal numbers."""
        return (1 << (self.bits - self.fraction_bits - 2)) - 1

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        return self.sign - (1 << self.fraction_bits)

    @property
    def nan(self) -> int:
        return self.infinity | 1 << (self.fraction_bits - 1)

    def unbox(self, register: int) -> int:
        box = (1 << 64) - (1 << self.bits)
        return register - box if register & box == box else self.nan

    def box(self, bits: int) -> int:
        return bits | (1 << 64) - (1 << self.bits)

    def negative(self, bits: int) -> bool:
        return bool(bits & self.sign)

    def signalling(self, bits: int) -> bool:
        return is_nan(self.number(bits)) and not bits & 1 << (self.fraction_bits - 1)

    def number(self, bits: int) -> Number:
        """Returns the number that the bits represent. A zero loses its sign."""
        sign, magnitude = (-1 if self.negative(bits) else 1), bits & ~self.sign
        if magnitude >= self.infinity:
            return sign * math.inf if magnitude == self.infinity else math.nan
        exponent, fraction = divmod(magnitude, 1 << self.fraction_bits)
        significand = fraction + (1 << self.fraction_bits if exponent else 0)
        return sign * significand * power(max(exponent, 1) - self.max_exponent - self.fraction_bits)

    def pack(self, value: Number, mode: str, zero_sign: bool = False) -> Result:
        """Rounds a number to the format. `zero_sign` is the sign of a zero."""
        if is_nan(value):
            return self.nan, 0
        negative = value < 0 or (value == 0 and zero_sign)
        sign = self.sign if negative else 0
        if isinstance(value, float) or value == 0:
            return sign | (self.infinity if value else 0), 0
        magnitude = abs(value)
        exponent, min_exponent = exponent_of(magnitude), 1 - self.max_exponent
        ulp = power(max(exponent, min_exponent) - self.fraction_bits)
        rounded = round_magnitude(magnitude / ulp, mode, negative) * ulp
        if rounded >= power(self.max_exponent + 1):
            towards_zero = mode == "rtz" or mode == ("rup" if negative else "rdn")
            return sign | self.infinity - towards_zero, OVERFLOW | INEXACT
        unbounded_ulp = power(exponent - self.fraction_bits)
        tiny = round_magnitude(magnitude / unbounded_ulp, mode, negative) * unbounded_ulp < power(
            min_exponent
        )
        flags = 0 if rounded == magnitude else INEXACT | (UNDERFLOW if tiny else 0)
        return sign | self.encode(rounded), flags

    def encode(self, magnitude: Fraction) -> int:
        """Returns the bits of a magnitude that the format can represent."""
        min_exponent = 1 - self.max_exponent
        exponent = max(exponent_of(magnitude), min_exponent) if magnitude else min_exponent
        significand = int(magnitude / power(exponent - self.fraction_bits))
        return (exponent - min_exponent << self.fraction_bits) + significand


SINGLE, DOUBLE = Format("s", 32, 23), Format("d", 64, 52)


def is_nan(value: Number) -> bool:
    return value != value


def power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def exponent_of(magnitude: Fraction) -> int:
    """Returns the exponent of the leading bit of a magnitude."""
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if power(guess) <= magnitude else guess - 1


def round_magnitude(value: Fraction, mode: str, negative: bool) -> int:
    """Rounds the magnitude of a number to an integer."""
    integral, remainder = divmod(value, 1)
    half = Fraction(1, 2)
    match mode:
        case "rne":
            return integral + (remainder > half or (remainder == half and integral % 2 == 1))
        case "rmm":
            return integral + (remainder >= half)
        case "rdn":
            return integral + (remainder > 0 and negative)
        case "rup":
            return integral + (remainder > 0 and not negative)
    return integral


# ---- operations, whose arguments are the format, the rounding mode and the sources


def invalid(f: Format, *operands: int) -> int:
    return INVALID if any(f.signalling(bits) for bits in operands) else 0


def fused(f: Format, mode: str, a: int, b: int, c: int) -> Result:
    x, y, z = (f.number(bits) for bits in (a, b, c))
    flags = invalid(f, a, b, c)
    if {abs(x), abs(y)} == {0, math.inf}:
        return f.nan, INVALID
    if any(is_nan(value) for value in (x, y, z)):
        return f.nan, flags
    product_negative = f.negative(a) != f.negative(b)
    if math.inf in (abs(x), abs(y)):
        product = -math.inf if product_negative else math.inf
        return (f.nan, INVALID) if z == -product else f.pack(product, mode)
    if isinstance(z, float):
        return c, 0
    same_sign = product_negative == f.negative(c)
    return f.pack(x * y + z, mode, product_negative if same_sign else mode == "rdn")


def negate(f: Format, bits: int) -> int:
    return bits ^ f.sign


def add(f: Format, mode: str, a: int, b: int) -> Result:
    return fused(f, mode, a, f.encode(Fraction(1)), b)


def multiply(f: Format, mode: str, a: int, b: int) -> Result:
    negative = f.negative(a) != f.negative(b)
    return fused(f, mode, a, b, f.sign if negative else 0)


def divide(f: Format, mode: str, a: int, b: int) -> Result:
    x, y = f.number(a), f.number(b)
    negative = f.negative(a) != f.negative(b)
    if is_nan(x) or is_nan(y):
        return f.nan, invalid(f, a, b)
    if x == y == 0 or abs(x) == abs(y) == math.inf:
        return f.nan, INVALID
    if y == 0 or abs(x) == math.inf:
        flags = DIVIDED_BY_ZERO if y == 0 and abs(x) != math.inf else 0
        return f.pack(-math.inf if negative else math.inf, mode)[0], flags
    return f.pack(Fraction(0) if isinstance(y, float) else x / y, mode, negative)


def square_root(f: Format, mode: str, a: int) -> Result:
    x = f.number(a)
    if is_nan(x):
        return f.nan, invalid(f, a)
    if x < 0:
        return f.nan, INVALID
    if x == 0 or isinstance(x, float):
        return a, 0
    # An irrational root is replaced by the middle of the interval, of 2^-1200, in which it lies.
    precision_bits = 2400
    square = x * power(precision_bits)
    integer_root = math.isqrt(int(square))
    return f.pack(
        (integer_root + Fraction(integer_root * integer_root != square, 2))
        / power(precision_bits // 2),
        mode,
    )


def order_key(f: Format, bits: int) -> int:
    """Returns a number that orders the format's values, with -0 before 0."""
    return -(bits & ~f.sign) - 1 if f.negative(bits) else bits


def min_or_max(f: Format, a: int, b: int, first_wins: bool) -> Result:
    flags = invalid(f, a, b)
    is_nan_ = [is_nan(f.number(bits)) for bits in (a, b)]
    if all(is_nan_):
        return f.nan, flags
    return (b if is_nan_[0] or not (first_wins or is_nan_[1]) else a), flags


def compare(f: Format, a: int, b: int, holds: Callable[[Number, Number], bool]) -> Result:
    x, y = f.number(a), f.number(b)
    if is_nan(x) or is_nan(y):
        return 0, INVALID
    return int(holds(x, y)), 0


def equal(f: Format, mode: str, a: int, b: int) -> Result:
    return int(f.number(a) == f.number(b)), invalid(f, a, b)


def classify(f: Format, a: int) -> int:
    x = f.number(a)
    if is_nan(x):
        return 1 << (8 if f.signalling(a) else 9)
    magnitude = abs(x)
    class_ = 0 if magnitude == math.inf else 3 if magnitude == 0 else 1
    if 0 < magnitude < power(1 - f.max_exponent):
        class_ = 2
    return 1 << (class_ if f.negative(a) else 7 - class_)


def to_integer(f: Format, mode: str, a: int, low: int, high: int) -> Result:
    x = f.number(a)
    if not isinstance(x, float):
        rounded = round_magnitude(abs(x), mode, x < 0) * (-1 if x < 0 else 1)
        if low <= rounded <= high:
            return rounded, 0 if rounded == x else INEXACT
    return (low if x < 0 else high), INVALID


# ---- instructions


def without_rounding(value: Callable[..., int]) -> Callable[..., Result]:
    """Wraps an operation that needs no rounding mode and sets no flags."""
    return lambda f, mode, *sources: (value(f, *sources), 0)


def convert_format(f: Format, mode: str, a: int) -> Result:
    source_format = DOUBLE if f is SINGLE else SINGLE
    packed, flags = f.pack(source_format.number(a), mode, source_format.negative(a))
    return packed, flags | invalid(source_format, a)


def to_width(register: int, bits: int, signed: bool) -> int:
    value = register % (1 << bits)
    return value - (1 << bits) if signed and value >> bits - 1 else value


def float_to_integer(bits: int, signed: bool) -> Callable[..., Result]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def convert(f: Format, mode: str, a: int) -> Result:
        rounded, flags = to_integer(f, mode, a, low, high)
        return to_width(rounded, bits, True), flags  # 32-bit results are sign-extended

    return convert


def integer_to_float(bits: int, signed: bool) -> Callable[..., Result]:
    return lambda f, mode, a: f.pack(Fraction(to_width(a, bits, signed)), mode)


@dataclass(frozen=True)
class Operation:
    """An instruction in both formats. `kinds` has a letter for rd and for each source: f for a
    number of the format, o for a number of the other format, r for an uninterpreted floating-point
    register, x for an integer register.
    """

    kinds: str
    compute: Callable[..., Result]
    rounds: bool = False

    def execute(self, f: Format, mode: str, registers: tuple[int, ...]) -> Result:
        formats = {"f": f, "o": DOUBLE if f is SINGLE else SINGLE}
        sources = [
            formats[kind].unbox(register) if kind in formats else register
            for kind, register in zip(self.kinds[1:], registers, strict=False)
        ]
        result, flags = self.compute(f, mode, *sources)
        return result % (1 << 64) if self.kinds[0] == "x" else f.box(result), flags


# Operations by name, in which F stands for the format's letter, O for the other format's, and W for
# the letter of moves between registers.
OPERATIONS = {
    "fmadd.F": Operation("ffff", fused, True),
    "fmsub.F": Operation("ffff", lambda f, m, a, b, c: fused(f, m, a, b, negate(f, c)), True),
    "fnmsub.F": Operation("ffff", lambda f, m, a, b, c: fused(f, m, negate(f, a), b, c), True),
    "fnmadd.F": Operation(
        "ffff", lambda f, m, a, b, c: fused(f, m, negate(f, a), b, negate(f, c)), True
    ),
    "fadd.F": Operation("fff", add, True),
    "fsub.F": Operation("fff", lambda f, m, a, b: add(f, m, a, negate(f, b)), True),
    "fmul.F": Operation("fff", multiply, True),
    "fdiv.F": Operation("fff", divide, True),
    "fsqrt.F": Operation("ff", square_root, True),
    "fsgnj.F": Operation("fff", without_rounding(lambda f, a, b: a & ~f.sign | b & f.sign)),
    "fsgnjn.F": Operation("fff", without_rounding(lambda f, a, b: a & ~f.sign | ~b & f.sign)),
    "fsgnjx.F": Operation("fff", without_rounding(lambda f, a, b: a ^ b & f.sign)),
    "fmin.F": Operation(
        "fff", lambda f, m, a, b: min_or_max(f, a, b, order_key(f, a) < order_key(f, b))
    ),
    "fmax.F": Operation(
        "fff", lambda f, m, a, b: min_or_max(f, a, b, order_key(f, a) > order_key(f, b))
    ),
    "feq.F": Operation("xff", equal),
    "flt.F": Operation("xff", lambda f, m, a, b: compare(f, a, b, operator.lt)),
    "fle.F": Operation("xff", lambda f, m, a, b: compare(f, a, b, operator.le)),
    "fclass.F": Operation("xf", without_rounding(classify)),
    "fmv.x.W": Operation("xr", without_rounding(lambda f, a: to_width(a, f.bits, True))),
    "fmv.W.x": Operation("fx", without_rounding(lambda f, a: to_width(a, f.bits, False))),
    "fcvt.F.O": Operation("fo", convert_format, True),
    "fcvt.w.F": Operation("xf", float_to_integer(32, True), True),
    "fcvt.wu.F": Operation("xf", float_to_integer(32, False), True),
    "fcvt.l.F": Operation("xf", float_to_integer(64, True), True),
    "fcvt.lu.F": Operation("xf", float_to_integer(64, False), True),
    "fcvt.F.w": Operation("fx", integer_to_float(32, True), True),
    "fcvt.F.wu": Operation("fx", integer_to_float(32, False), True),
    "fcvt.F.l": Operation("fx", integer_to_float(64, True), True),
    "fcvt.F.lu": Operation("fx", integer_to_float(64, False), True),
}
