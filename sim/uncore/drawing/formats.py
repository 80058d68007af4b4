"""Formats numbers for people: three significant digits and a unit."""

from __future__ import annotations

from pathlib import Path

EMPTY = "-"  # an unknown value


def scaled(
    value: float, units: list[str], step: float = 1000.0, repeat_range: float | None = None
) -> str:
    """Formats `value` in the largest of `units` that it reaches; each unit is `step` times its
    predecessor.

    `repeat_range` is the difference between the largest and the smallest repeat, None if unknown;
    half of it is printed as +-.
    """
    scale = 0
    while abs(value) >= step * 0.9995 and scale < len(units) - 1:
        value /= step
        scale += 1
    is_whole = value == int(value) and repeat_range is None
    digits = 0 if abs(value) >= 99.95 or is_whole else 1 if abs(value) >= 9.995 else 2
    spread = "" if repeat_range is None else f" +-{repeat_range / 2 / step**scale:.{digits}f}"
    return f"{value:.{digits}f}{spread} {units[scale]}".rstrip()


def rate(per_second: float | None, repeat_range: float | None = None) -> str:
    """Formats operations per second; `repeat_range` as in `scaled`."""
    units = ["/s", "k/s", "M/s", "G/s"]
    return EMPTY if per_second is None else scaled(per_second, units, repeat_range=repeat_range)


def duration(ps: float | None, repeat_range: float | None = None) -> str:
    """Formats a time in picoseconds; `repeat_range` as in `scaled`."""
    return (
        EMPTY
        if ps is None
        else scaled(ps, ["ps", "ns", "us", "ms", "s"], repeat_range=repeat_range)
    )


def count(number: float | None) -> str:
    """Formats a plain count."""
    return EMPTY if number is None else scaled(number, ["", "k", "M", "G"])


def percent(ppm: float | None) -> str:
    """Formats a share, given in millionths, as per cent."""
    return EMPTY if ppm is None else f"{ppm / 10_000:.0f} %"


def ratio(value: float | None, repeat_range: float | None = None) -> str:
    """Formats a ratio with two decimals; `repeat_range` as in `scaled`."""
    spread = "" if repeat_range is None else f" +-{repeat_range / 2:.2f}"
    return EMPTY if value is None else f"{value:.2f}{spread}"


def spread(value: float, repeat_range: float | None) -> str:
    """Formats a figure with one decimal; `repeat_range` as in `scaled`."""
    return f"{value:.1f}" if repeat_range is None else f"{value:.1f} +-{repeat_range / 2:.1f}"


def from_here(text: str) -> str:
    """Makes paths in a text relative if they are below the working directory."""
    return text.replace(f"{Path.cwd()}/", "")
