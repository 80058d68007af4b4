"""Defines Parameter, a parameter of a guest program: its description, and conversions of values.

    parameter.parse("1.5us") -> 1500       the number for the guest; raises UserError
    parameter.show(1500)     -> "1500ns"   the canonical text; parse(show(x)) == x

Types: i64, u64, bool, duration (whole nanoseconds; a unit is required), choice (one of its words).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from uncore.errors import UserError, suggestion

_NANOSECONDS = {"ps": Decimal("0.001"), "ns": Decimal(1), "us": Decimal(10**3)}
_NANOSECONDS |= {"ms": Decimal(10**6), "s": Decimal(10**9)}
_BOOL = {"false": 0, "no": 0, "off": 0, "0": 0, "true": 1, "yes": 1, "on": 1, "1": 1}


@dataclass(frozen=True)
class Parameter:
    """A parameter, declared in C by UC_PARAM."""

    name: str
    type: str
    unit: str
    help: str
    default: int
    address: int  # address of its 64-bit value

    @property
    def choices(self) -> tuple[str, ...]:
        """The words of a choice, in order; () for other types."""
        return tuple(self.unit.split("|")) if self.type == "choice" else ()

    def parse(self, text: object) -> int:
        """Returns the number for a text; ints and bools are converted to text first."""
        word = str(text).strip()
        value = _TYPES[self.type].read(self, word)
        if value is None:
            raise UserError(
                f"parameter {self.name}={word}: expected {_TYPES[self.type].expected(self)}"
                f"{suggestion(word, self.choices)}"
            )
        return value

    def show(self, value: int) -> str:
        """Returns the canonical text of a value."""
        if self.type == "duration":
            return f"{value}ns"
        if self.type == "bool":
            return "true" if value else "false"
        if self.type == "choice" and value < len(self.choices):
            return self.choices[value]
        return str(value)


def _integer(low: int, high: int) -> Callable[[Parameter, str], int | None]:
    def read(_: Parameter, word: str) -> int | None:
        if not re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|[0-9][0-9_]*)", word, re.ASCII):
            return None
        digits = word.replace("_", "")
        if len(digits) > 24:  # more than 64 bits in any base
            return None
        value = int(digits, 16 if "x" in digits.lower() else 10)
        return value if low <= value < high else None

    return read


def _duration(_: Parameter, word: str) -> int | None:
    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,12})?) ?(ps|ns|us|ms|s)", word, re.ASCII)
    if not match:
        return 0 if word == "0" else None
    value = Decimal(match[1]) * _NANOSECONDS[match[2]]
    return int(value) if value == int(value) < 1 << 63 else None


def _choice(parameter: Parameter, word: str) -> int | None:
    return parameter.choices.index(word) if word in parameter.choices else None


@dataclass(frozen=True)
class _Type:
    read: Callable[[Parameter, str], int | None]
    expected: Callable[[Parameter], str]


_TYPES: Mapping[str, _Type] = {
    "i64": _Type(_integer(-(1 << 63), 1 << 63), lambda p: "a whole number, such as -1"),
    "u64": _Type(_integer(0, 1 << 64), lambda p: f"a whole number of {p.unit}, such as 100"),
    "bool": _Type(lambda p, word: _BOOL.get(word.lower()), lambda p: "true or false"),
    "duration": _Type(
        _duration, lambda p: "a time in whole nanoseconds with its unit, such as 50ns or 1.5us"
    ),
    "choice": _Type(_choice, lambda p: f"one of {', '.join(p.choices)}"),
}
TYPES = frozenset(_TYPES)
