"""Converts values of an exploration's file to numbers for formulas.

number("12ns")                     12.0: times in ns, sizes in MiB, other units unchanged
number("interleave")               "interleave"
range_ends(position, "5ns", "40ns")   the ends of a range; `position` is its file and line
"""

from __future__ import annotations

import re
from typing import NamedTuple

from uncore.errors import UserError
from uncore.topology.units import NUMBER, QUANTITY_PATTERN, SIZE_UNITS, TIME_UNITS

DRAWN_DIGITS = 3  # significant digits of a value drawn from a range


class Quantity(NamedTuple):
    amount: float
    unit: str

    def __str__(self) -> str:
        return f"{self.amount:.10g}{self.unit}"

    def rounded(self) -> Quantity:
        return Quantity(float(f"{self.amount:.{DRAWN_DIGITS}g}"), self.unit)


def number(value: str) -> float | str:
    """Returns the amount of a quantity, or the text itself if it is not a quantity."""
    quantity = _quantity(value)
    if quantity is None:
        return value
    if quantity.unit in TIME_UNITS:
        return quantity.amount * TIME_UNITS[quantity.unit] / TIME_UNITS["ns"]
    return (
        quantity.amount * SIZE_UNITS[quantity.unit] / SIZE_UNITS["MiB"]
        if quantity.unit in SIZE_UNITS
        else quantity.amount
    )


def range_ends(position: str, low: object, high: object) -> tuple[Quantity, Quantity]:
    """Returns both ends of a range; they must have the same unit and be above zero."""
    ends = _quantity(str(low)), _quantity(str(high))
    a, b = ends
    if a is None or b is None or a.unit != b.unit or not 0 < a[0] <= b[0]:
        raise UserError(
            f"{position}: {low} to {high}: expected two quantities above zero, of one unit, the"
            ' smaller first, like { from = "5ns", to = "40ns", step = "5ns" }'
        )
    return a, b


def _quantity(text: str) -> Quantity | None:
    if re.fullmatch(NUMBER, text):
        return Quantity(float(text), "")
    match = QUANTITY_PATTERN.fullmatch(text)
    if not match or match[2] not in {*TIME_UNITS, *SIZE_UNITS, "cy", "GHz", "MHz"}:
        return None
    return Quantity(float(match[1]), match[2] + (f"@{match[3]}" if match[3] else ""))
