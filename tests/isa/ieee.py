"""Floating point according to the RISC-V manual, in exact rational numbers that are rounded once.

    OPERATIONS[name].execute(format, mode, registers) -> the value of rd, and the flags
    operands(seed, format) -> registers that show what a wrong rounding would hide

The hart computes with integers and shifts.  This independent computation is compared with it, and
both with QEMU.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

INEXACT, UNDERFLOW, OVERFLOW, DIVIDED_BY_ZERO, INVALID = 1, 2, 4, 8, 16
MODES = ("rne", "rtz", "rdn", "rup", "rmm")
Result = tuple[int, int]  # bits and flags
Number = Fraction | float  # exact; infinities and NaN are floats


@dataclass(frozen=True)
class Format:
    letter: str
    bits: int
    fraction: int  # bits of it

    @property
    def largest(self) -> int:
        """The largest exponent of normal numbers."""
        return (1 << (self.bits - self.fraction - 2)) - 1

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        return self.sign - (1 << self.fraction)

    @property
    def nan(self) -> int:
        return self.infinity | 1 << (self.fraction - 1)

    def unbox(self, register: int) -> int:
        box = (1 << 64) - (1 << self.bits)
        return register - box if register & box == box else self.nan

    def box(self, bits: int) -> int:
        return bits | (1 << 64) - (1 << self.bits)

    def negative(self, bits: int) -> bool:
        return bool(bits & self.sign)

    def signalling(self, bits: int) -> bool:
        return is_nan(self.number(bits)) and not bits & 1 << (self.fraction - 1)

    def number(self, bits: int) -> Number:
        """Returns the number that the bits stand for; a zero loses its sign."""
        sign, size = (-1 if self.negative(bits) else 1), bits & ~self.sign
        if size >= self.infinity:
            return sign * math.inf if size == self.infinity else math.nan
        exponent, fraction = divmod(size, 1 << self.fraction)
        whole = fraction + (1 << self.fraction if exponent else 0)
        return sign * whole * power(max(exponent, 1) - self.largest - self.fraction)

    def pack(self, value: Number, mode: str, zero: bool = False) -> Result:
        """Rounds a number to the format; `zero` is the sign of a zero."""
        if is_nan(value):
            return self.nan, 0
        negative = value < 0 or (value == 0 and zero)
        sign = self.sign if negative else 0
        if isinstance(value, float) or value == 0:
            return sign | (self.infinity if value else 0), 0
        size = abs(value)
        leading, least = exponent_of(size), 1 - self.largest
        unit = power(max(leading, least) - self.fraction)
        rounded = nearest(size / unit, mode, negative) * unit
        if rounded >= power(self.largest + 1):
            inwards = mode == "rtz" or mode == ("rup" if negative else "rdn")
            return sign | self.infinity - inwards, OVERFLOW | INEXACT
        unbounded = power(leading - self.fraction)
        tiny = nearest(size / unbounded, mode, negative) * unbounded < power(least)
        flags = 0 if rounded == size else INEXACT | (UNDERFLOW if tiny else 0)
        return sign | self.encode(rounded), flags

    def encode(self, size: Fraction) -> int:
        """Returns the bits of a number that the format can represent."""
        least = 1 - self.largest
        exponent = max(exponent_of(size), least) if size else least
        whole = int(size / power(exponent - self.fraction))
        return (exponent - least << self.fraction) + whole


SINGLE, DOUBLE = Format("s", 32, 23), Format("d", 64, 52)


def is_nan(value: Number) -> bool:
    return value != value


def power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def exponent_of(size: Fraction) -> int:
    """Returns the exponent of the leading bit."""
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if power(guess) <= size else guess - 1


def nearest(value: Fraction, mode: str, negative: bool) -> int:
    """Rounds the magnitude of a number to an integer."""
    whole, rest = divmod(value, 1)
    half = Fraction(1, 2)
    match mode:
        case "rne":
            return whole + (rest > half or (rest == half and whole % 2 == 1))
        case "rmm":
            return whole + (rest >= half)
        case "rdn":
            return whole + (rest > 0 and negative)
        case "rup":
            return whole + (rest > 0 and not negative)
    return whole


# ---- operations; arguments: format, rounding mode, then the sources


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
    same = product_negative == f.negative(c)
    return f.pack(x * y + z, mode, product_negative if same else mode == "rdn")


def minus(f: Format, bits: int) -> int:
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


def root(f: Format, mode: str, a: int) -> Result:
    x = f.number(a)
    if is_nan(x):
        return f.nan, invalid(f, a)
    if x < 0:
        return f.nan, INVALID
    if x == 0 or isinstance(x, float):
        return a, 0
    # precision in bits; an irrational root is replaced by a number between the same two of these
    more = 2400
    square = x * power(more)
    whole = math.isqrt(int(square))
    return f.pack((whole + Fraction(whole * whole != square, 2)) / power(more // 2), mode)


def place(f: Format, bits: int) -> int:
    """Returns a number that orders the format's values, with -0 before 0."""
    return -(bits & ~f.sign) - 1 if f.negative(bits) else bits


def choose(f: Format, a: int, b: int, first: bool) -> Result:
    flags = invalid(f, a, b)
    none = [is_nan(f.number(bits)) for bits in (a, b)]
    if all(none):
        return f.nan, flags
    return (b if none[0] or not (first or none[1]) else a), flags


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
    size = abs(x)
    kind = 0 if size == math.inf else 3 if size == 0 else 1
    if 0 < size < power(1 - f.largest):
        kind = 2
    return 1 << (kind if f.negative(a) else 7 - kind)


def to_integer(f: Format, mode: str, a: int, low: int, high: int) -> Result:
    x = f.number(a)
    if not isinstance(x, float):
        rounded = nearest(abs(x), mode, x < 0) * (-1 if x < 0 else 1)
        if low <= rounded <= high:
            return rounded, 0 if rounded == x else INEXACT
    return (low if x < 0 else high), INVALID


# ---- instructions


def plain(value: Callable[..., int]) -> Callable[..., Result]:
    """Wraps an operation that needs no rounding mode and sets no flags."""
    return lambda f, mode, *sources: (value(f, *sources), 0)


def narrow(f: Format, mode: str, a: int) -> Result:
    other = DOUBLE if f is SINGLE else SINGLE
    packed, flags = f.pack(other.number(a), mode, other.negative(a))
    return packed, flags | invalid(other, a)


def integer(register: int, bits: int, signed: bool) -> int:
    value = register % (1 << bits)
    return value - (1 << bits) if signed and value >> bits - 1 else value


def to(bits: int, signed: bool) -> Callable[..., Result]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def convert(f: Format, mode: str, a: int) -> Result:
        rounded, flags = to_integer(f, mode, a, low, high)
        return integer(rounded, bits, True), flags  # words are sign-extended

    return convert


def of(bits: int, signed: bool) -> Callable[..., Result]:
    return lambda f, mode, a: f.pack(Fraction(integer(a, bits, signed)), mode)


@dataclass(frozen=True)
class Operation:
    """An instruction in both formats. `kinds` has a letter for rd and for each source: f is a
    number of the format, o of the other one, r a floating-point register as it is, x an integer
    register.
    """

    kinds: str
    does: Callable[..., Result]
    rounds: bool = False

    def execute(self, f: Format, mode: str, registers: tuple[int, ...]) -> Result:
        formats = {"f": f, "o": DOUBLE if f is SINGLE else SINGLE}
        sources = [
            formats[kind].unbox(register) if kind in formats else register
            for kind, register in zip(self.kinds[1:], registers, strict=False)
        ]
        result, flags = self.does(f, mode, *sources)
        return result % (1 << 64) if self.kinds[0] == "x" else f.box(result), flags


# Operations by name, where F is the format, O the other, and W the letter of moves between
# registers.
OPERATIONS = {
    "fmadd.F": Operation("ffff", fused, True),
    "fmsub.F": Operation("ffff", lambda f, m, a, b, c: fused(f, m, a, b, minus(f, c)), True),
    "fnmsub.F": Operation("ffff", lambda f, m, a, b, c: fused(f, m, minus(f, a), b, c), True),
    "fnmadd.F": Operation(
        "ffff", lambda f, m, a, b, c: fused(f, m, minus(f, a), b, minus(f, c)), True
    ),
    "fadd.F": Operation("fff", add, True),
    "fsub.F": Operation("fff", lambda f, m, a, b: add(f, m, a, minus(f, b)), True),
    "fmul.F": Operation("fff", multiply, True),
    "fdiv.F": Operation("fff", divide, True),
    "fsqrt.F": Operation("ff", root, True),
    "fsgnj.F": Operation("fff", plain(lambda f, a, b: a & ~f.sign | b & f.sign)),
    "fsgnjn.F": Operation("fff", plain(lambda f, a, b: a & ~f.sign | ~b & f.sign)),
    "fsgnjx.F": Operation("fff", plain(lambda f, a, b: a ^ b & f.sign)),
    "fmin.F": Operation("fff", lambda f, m, a, b: choose(f, a, b, place(f, a) < place(f, b))),
    "fmax.F": Operation("fff", lambda f, m, a, b: choose(f, a, b, place(f, a) > place(f, b))),
    "feq.F": Operation("xff", equal),
    "flt.F": Operation("xff", lambda f, m, a, b: compare(f, a, b, operator.lt)),
    "fle.F": Operation("xff", lambda f, m, a, b: compare(f, a, b, operator.le)),
    "fclass.F": Operation("xf", plain(classify)),
    "fmv.x.W": Operation("xr", plain(lambda f, a: integer(a, f.bits, True))),
    "fmv.W.x": Operation("fx", plain(lambda f, a: integer(a, f.bits, False))),
    "fcvt.F.O": Operation("fo", narrow, True),
    "fcvt.w.F": Operation("xf", to(32, True), True),
    "fcvt.wu.F": Operation("xf", to(32, False), True),
    "fcvt.l.F": Operation("xf", to(64, True), True),
    "fcvt.lu.F": Operation("xf", to(64, False), True),
    "fcvt.F.w": Operation("fx", of(32, True), True),
    "fcvt.F.wu": Operation("fx", of(32, False), True),
    "fcvt.F.l": Operation("fx", of(64, True), True),
    "fcvt.F.lu": Operation("fx", of(64, False), True),
}
