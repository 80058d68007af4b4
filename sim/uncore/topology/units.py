"""Parses quantities with units into exact numbers.

    duration    "9cy"  "12ns"  "3cy + 12ns"  "9cy@fabric"      picoseconds (Fraction)
    frequency   "4.0GHz"                                       the period in picoseconds
    size        "32KiB"  "16MiB"                               bytes
    rate        "32B/cy"  "32B/1.2ns"  "40GB/s"                bytes per picosecond
    cache       "32KiB 8-way 4cy"                              its parts as text (`cache_parts`)

Each function parses a text or raises a `UnitError`, whose message says what was expected and what
to write instead; the caller adds file and line. Numbers are exact: they are rounded once, when a
machine is resolved. A `Period` is a function that returns the period of a clock domain by its name;
None means the domain of the table that contains the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

Period = Callable[[str | None], Fraction]

TIME_UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
PERIOD_PS = {"kHz": 10**9, "MHz": 10**6, "GHz": 10**3}  # period of a clock of one such unit
SIZE_UNITS = {"B": 1} | {
    prefix + binary + "B": base**power
    for power, prefix in enumerate("KMGT", start=1)
    for binary, base in (("i", 1024), ("", 1000))
}

NUMBER = r"(\d{1,12}(?:\.\d{1,12})?)"
QUANTITY_PATTERN = re.compile(rf"{NUMBER}\s*([A-Za-z]+)(?:@([A-Za-z][\w.-]*))?")
PER = rf"(?:{NUMBER}\s*)?([A-Za-z]+)(?:@([A-Za-z][\w.-]*))?"
RATE_PATTERN = re.compile(rf"{NUMBER}\s*([A-Za-z]+)\s*/\s*{PER}")
DURATION_EXAMPLES = 'a duration, like "12ns", "9cy", "9cy@fabric" or "3cy + 12ns"'
MAX_LATENCY_PS = 10**12  # one second


def ps(time: Fraction) -> int:
    """Rounds a duration to whole ps, half up. Durations are rounded only here."""
    return int(time + Fraction(1, 2))


class UnitError(ValueError):
    """The error for a text that cannot be parsed. Its message states the expected form; the caller
    prepends the text that was read.
    """


def count(text: str, low: int, high: int) -> int:
    if text.isdecimal() and len(text) < 16 and low <= int(text) <= high:
        return int(text)
    raise UnitError(f"expected a whole number from {low} to {high}")


def share(text: str, low: int, high: int) -> Fraction:
    """Parses a plain number up to `high`; a `low` above 0 excludes 0."""
    is_plain = text.replace(".", "", 1).isdecimal() and len(text) < 16
    if is_plain and (value := Fraction(text)) <= high and (value > 0 or not low):
        return value
    lower_bound = "above 0, at most" if low else "from 0 to"
    raise UnitError(f"expected a plain number {lower_bound} {high}, like 0.6")


def duration(text: str, period: Period) -> Fraction:
    """Parses a sum of durations; returns ps."""
    total = sum((_part(part.strip(), period) for part in text.split("+")), Fraction(0))
    if total > MAX_LATENCY_PS:
        raise UnitError("expected a duration of at most one second")
    return total


def _part(text: str, period: Period) -> Fraction:
    match = QUANTITY_PATTERN.fullmatch(text)
    if not match:
        raise UnitError(f"expected {DURATION_EXAMPLES}")
    value, unit, domain = match.groups()
    return Fraction(value) * _time_unit(unit, domain, period)


def _time_unit(unit: str, domain: str | None, period: Period) -> Fraction:
    if unit == "cy":
        return period(domain)
    if domain or unit not in TIME_UNITS:
        bad_unit = f"'{unit}@{domain}'" if domain else f"'{unit}'"
        raise UnitError(f"{bad_unit} is no unit of time: expected {DURATION_EXAMPLES}")
    return Fraction(TIME_UNITS[unit])


def frequency(text: str) -> Fraction:
    """Parses a frequency; returns its period in ps."""
    match = QUANTITY_PATTERN.fullmatch(text)
    if not match or match[3] or match[2] not in PERIOD_PS or not Fraction(match[1]):
        raise UnitError('expected a frequency above zero, like "4.0GHz" or "1600MHz"')
    period = Fraction(PERIOD_PS[match[2]]) / Fraction(match[1])
    if period > MAX_LATENCY_PS:
        raise UnitError("expected a frequency of at least one hertz")
    return period


def size(text: str) -> int:
    match = QUANTITY_PATTERN.fullmatch(text)
    if not match or match[3] or match[2] not in SIZE_UNITS:
        raise UnitError('expected a size, like "64B", "512KiB" or "16MiB"')
    value = Fraction(match[1]) * SIZE_UNITS[match[2]]
    if value.denominator != 1 or not 0 < value <= 1 << 50:
        raise UnitError("expected a whole number of bytes from 1B to 1024TiB")
    return int(value)


def rate(text: str, period: Period) -> Fraction:
    """Parses a width or rate; returns bytes per ps."""
    match = RATE_PATTERN.fullmatch(text)
    if not match or match[2] not in SIZE_UNITS or not Fraction(match[1]):
        raise UnitError('expected a width or rate, like "32B/cy", "32B/1.2ns" or "40GB/s"')
    amount, unit, count, per, domain = match.groups()
    time = Fraction(count or 1) * _time_unit(per, domain, period)
    if not time:
        raise UnitError("expected a rate per some time above zero")
    value: Fraction = Fraction(amount) * SIZE_UNITS[unit] / time
    if value < Fraction(1, 10**6):  # a message must leave the link within the longest duration
        raise UnitError("expected a rate of at least 1MB/s")
    return value


def cache_parts(text: str) -> dict[str, str]:
    """Splits "32KiB 8-way 4cy" into `size`, `ways` and `latency`; the latency may be absent."""
    match = re.fullmatch(r"\s*(\S+)\s+(\d{1,6})-way(?:\s+(.+?))?\s*", text)
    if not match:
        raise UnitError('expected size, ways and latency of a cache, like "32KiB 8-way 4cy"')
    parts = {"size": match[1], "ways": match[2]}
    return parts | ({"latency": match[3]} if match[3] else {})
