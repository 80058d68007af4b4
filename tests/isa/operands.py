"""Generates operands of floating-point instructions that reveal a wrong rounding, flag or NaN.

rows(seed, format, count) returns triples of registers, most of which hold numbers of this format.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

from tests.isa.ieee import DOUBLE, SINGLE, Format, Number, is_nan, power

Row = tuple[int, int, int]
INTEGERS = [0, 1, -1, 2**31, 2**32 - 1, 2**63 - 1, -(2**63), 2**24 + 1, 2**24 + 3, 2**53 + 1]
INTEGERS += [2**53 + 3, 2**62 + 2**9 + 1, 2**63 + 2**39 + 1, 2**64 - 2**10]
AT_LIMITS = [2**31, 2**32, 2**63, 2**64, Fraction(1, 2), Fraction(3, 4), Fraction(5, 2), 1]


class Writer:
    def __init__(self, seed: int, f: Format) -> None:
        self.random, self.f = random.Random(seed), f

    def signed(self, bits: int) -> int:
        return bits ^ self.random.choice([0, self.f.sign])

    def special(self) -> int:
        f, ulp = self.f, 1
        hidden = 1 << f.fraction_bits
        one = f.encode(Fraction(1))
        smallest = [0, ulp, 2 * ulp, hidden - 1, hidden, hidden + 1]
        largest = [f.infinity - 2, f.infinity - 1, f.infinity]
        nans = [f.infinity + 1, f.nan, f.nan + 1, f.sign - 1, f.nan - 1]
        return self.signed(self.random.choice([*smallest, one - 1, one, one + 1, *largest, *nans]))

    def number(self, exponent: int | None = None) -> int:
        """Returns a number with this exponent and with few or many significant bits."""
        f = self.f
        if exponent is None:
            exponent = self.random.randint(1 - f.max_exponent, f.max_exponent)
        exponent = min(max(exponent, 1 - f.max_exponent), f.max_exponent)
        fraction = self.random.getrandbits(f.fraction_bits)
        simple = self.random.choice([0, 1, 1 << f.fraction_bits - 1, (1 << f.fraction_bits) - 1])
        fraction = self.random.choice([fraction, simple])
        return self.signed((exponent + f.max_exponent << f.fraction_bits) | fraction)

    def unrelated(self) -> Row:
        kinds = [self.special, self.number, lambda: self.random.getrandbits(self.f.bits)]
        return tuple(self.random.choice(kinds)() for _ in range(3))  # type: ignore[return-value]

    def overlapping(self) -> Row:
        """Returns numbers whose exponents differ by a few bits, so that digits overlap or
        cancel.
        """
        exponent = self.random.randint(-4, 4)
        a, b = (self.number(exponent + self.random.randint(-1, 1)) for _ in "ab")
        return a, b, self.number(2 * exponent + self.random.randint(-2 * self.f.fraction_bits, 3))

    def cancelling(self) -> Row:
        """Returns a third operand that is the negated, rounded product of the other two, or a
        number next to it.
        """
        a, b, _ = self.overlapping()
        product = self.value(a) * self.value(b)
        c = self.f.pack(-product, "rne")[0] + self.random.choice([-1, 0, 1])
        return a, b, c

    def near_limits(self) -> Row:
        """Returns operands whose product or quotient is near the smallest or the largest
        numbers.
        """
        f = self.f
        limit = self.random.choice(
            [1 - f.max_exponent, f.max_exponent, -f.max_exponent - f.fraction_bits]
        )
        limit += self.random.randint(-2, 2)
        exponent = self.random.randint(0, f.max_exponent) * (1 if limit > 0 else -1)
        other = self.random.choice([limit - exponent, exponent - limit])
        return self.number(exponent), self.number(other), self.number(limit)

    def to_convert(self) -> Row:
        """Returns a number halfway between two numbers of the narrow format, or near the limits of
        integers.
        """
        f, unit = self.f, self.random.choice([-1, 0, 0, 1])
        if self.random.random() < 0.5:
            value = Fraction(self.random.choice(AT_LIMITS)) + self.random.randint(-1, 1)
            a = f.pack(value, "rdn")[0] + (unit if value else 0)
        else:
            narrow = SINGLE.number(self.random.getrandbits(31) % SINGLE.infinity)
            assert isinstance(narrow, Fraction)
            a = f.pack(narrow + power(-180), "rdn")[0]
            if f is DOUBLE:
                a += (1 << 28) + unit
        return self.signed(a), self.special(), self.number()

    def value(self, bits: int) -> Fraction:
        value_: Number = self.f.number(bits)
        assert isinstance(value_, Fraction) and not is_nan(value_)
        return value_

    def special_rows(self) -> list[Row]:
        """Returns rows of special operands, which random draws could miss."""
        f, min_normal, small = (
            self.f,
            1 << self.f.fraction_bits,
            self.f.encode(power(-self.f.max_exponent * 3 // 4)),
        )
        one = f.encode(Fraction(1))
        # results near the smallest normal number
        rows = [
            (small, small | f.sign, min_normal),
            (one - 1, min_normal, 0),
            (min_normal, one, min_normal),
        ]
        rows += [(0, f.infinity, f.nan), (f.infinity, 0, f.infinity + 1)]
        rows += [
            (f.infinity + 1, one, one),
            (one, f.infinity + 1, one),
            (one, one, f.infinity + 1),
        ]
        return [(f.box(a), f.box(b), f.box(c)) for a, b, c in rows]

    def row(self) -> Row:
        generators: list[Callable[[], Row]] = [self.unrelated, self.overlapping, self.cancelling]
        a, b, c = self.random.choice([*generators, self.near_limits, self.to_convert])()
        boxed = [self.f.box(bits) for bits in (a, b, c)]
        # an integer, or a register that does not hold a number of the narrow format
        if self.random.random() < 0.1:
            position = self.random.randrange(3)
            value = self.random.choice([*INTEGERS, self.random.getrandbits(64)])
            boxed[position] = value % (1 << 64)
        return boxed[0], boxed[1], boxed[2]


def rows(seed: int, f: Format, count: int) -> list[Row]:
    writer = Writer(seed, f)
    special = [*writer.special_rows(), *((value % (1 << 64), 0, 0) for value in INTEGERS)]
    return [*special, *(writer.row() for _ in range(count - len(special)))]
