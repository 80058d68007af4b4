"""Operands of floating-point instructions for which a wrong rounding, flag or NaN would show.

rows(seed, format, count) -> triples of registers, most of them numbers of that format
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
        hidden = 1 << f.fraction
        unit = f.encode(Fraction(1))
        least = [0, ulp, 2 * ulp, hidden - 1, hidden, hidden + 1]
        most = [f.infinity - 2, f.infinity - 1, f.infinity]
        none = [f.infinity + 1, f.nan, f.nan + 1, f.sign - 1, f.nan - 1]
        return self.signed(self.random.choice([*least, unit - 1, unit, unit + 1, *most, *none]))

    def number(self, exponent: int | None = None) -> int:
        """Returns a number of that exponent, with few or many significant bits."""
        f = self.f
        if exponent is None:
            exponent = self.random.randint(1 - f.largest, f.largest)
        exponent = min(max(exponent, 1 - f.largest), f.largest)
        fraction = self.random.getrandbits(f.fraction)
        few = self.random.choice([0, 1, 1 << f.fraction - 1, (1 << f.fraction) - 1])
        fraction = self.random.choice([fraction, few])
        return self.signed((exponent + f.largest << f.fraction) | fraction)

    def anything(self) -> Row:
        kinds = [self.special, self.number, lambda: self.random.getrandbits(self.f.bits)]
        return tuple(self.random.choice(kinds)() for _ in range(3))  # type: ignore[return-value]

    def near(self) -> Row:
        """Returns numbers whose exponents are a few bits apart, so that digits overlap
        or cancel.
        """
        at = self.random.randint(-4, 4)
        a, b = (self.number(at + self.random.randint(-1, 1)) for _ in "ab")
        return a, b, self.number(2 * at + self.random.randint(-2 * self.f.fraction, 3))

    def cancelling(self) -> Row:
        """Returns a third operand that is the rounded product of the others, or a number next to
        it.
        """
        a, b, _ = self.near()
        product = self.value(a) * self.value(b)
        c = self.f.pack(-product, "rne")[0] + self.random.choice([-1, 0, 1])
        return a, b, c

    def at_an_end(self) -> Row:
        """Returns operands whose product or quotient is near the smallest or the
        largest numbers.
        """
        f = self.f
        end = self.random.choice([1 - f.largest, f.largest, -f.largest - f.fraction])
        end += self.random.randint(-2, 2)
        at = self.random.randint(0, f.largest) * (1 if end > 0 else -1)
        other = self.random.choice([end - at, at - end])
        return self.number(at), self.number(other), self.number(end)

    def converted(self) -> Row:
        """Returns numbers halfway between two of the narrow format, or near the limits
        of integers.
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

    def always(self) -> list[Row]:
        """Returns special operands, which random draws may miss."""
        f, least, small = (
            self.f,
            1 << self.f.fraction,
            self.f.encode(power(-self.f.largest * 3 // 4)),
        )
        unit = f.encode(Fraction(1))
        rows = [(small, small | f.sign, least), (unit - 1, least, 0), (least, unit, least)]  # tiny?
        rows += [(0, f.infinity, f.nan), (f.infinity, 0, f.infinity + 1)]
        rows += [
            (f.infinity + 1, unit, unit),
            (unit, f.infinity + 1, unit),
            (unit, unit, f.infinity + 1),
        ]
        return [(f.box(a), f.box(b), f.box(c)) for a, b, c in rows]

    def row(self) -> Row:
        kinds: list[Callable[[], Row]] = [self.anything, self.near, self.cancelling]
        a, b, c = self.random.choice([*kinds, self.at_an_end, self.converted])()
        boxed = [self.f.box(bits) for bits in (a, b, c)]
        # an integer, or a value that is no number of the narrow format
        if self.random.random() < 0.1:
            at = self.random.randrange(3)
            wide = self.random.choice([*INTEGERS, self.random.getrandbits(64)])
            boxed[at] = wide % (1 << 64)
        return boxed[0], boxed[1], boxed[2]


def rows(seed: int, f: Format, count: int) -> list[Row]:
    writer = Writer(seed, f)
    first = [*writer.always(), *((value % (1 << 64), 0, 0) for value in INTEGERS)]
    return [*first, *(writer.row() for _ in range(count - len(first)))]
