"""Numbers as people read them: three significant digits and a unit."""

from __future__ import annotations

from pathlib import Path

EMPTY = "-"  # an unknown value


def scaled(value: float, units: list[str], step: float = 1000.0, apart: float | None = None) -> str:
    """Formats `value` in the largest of `units` that it reaches; each unit is `step` times the one
    before.

    `apart`, the range of the repeats, is added as +- half of it if it is known.
    """
    scale = 0
    while abs(value) >= step * 0.9995 and scale < len(units) - 1:
        value /= step
        scale += 1
    is_whole = value == int(value) and apart is None
    digits = 0 if abs(value) >= 99.95 or is_whole else 1 if abs(value) >= 9.995 else 2
    spread = "" if apart is None else f" +-{apart / 2 / step**scale:.{digits}f}"
    return f"{value:.{digits}f}{spread} {units[scale]}".rstrip()


def rate(per_second: float | None, apart: float | None = None) -> str:
    """Formats operations a second; `apart` is the range of the repeats."""
    units = ["/s", "k/s", "M/s", "G/s"]
    return EMPTY if per_second is None else scaled(per_second, units, apart=apart)


def duration(ps: float | None, apart: float | None = None) -> str:
    """Formats a time given in picoseconds."""
    return EMPTY if ps is None else scaled(ps, ["ps", "ns", "us", "ms", "s"], apart=apart)


def count(number: float | None) -> str:
    """Formats a plain count."""
    return EMPTY if number is None else scaled(number, ["", "k", "M", "G"])


def percent(ppm: float | None) -> str:
    """Formats a share given in millionths as per cent."""
    return EMPTY if ppm is None else f"{ppm / 10_000:.0f} %"


def ratio(value: float | None, apart: float | None = None) -> str:
    """Formats a ratio, such as a number per operation, with two decimals."""
    spread = "" if apart is None else f" +-{apart / 2:.2f}"
    return EMPTY if value is None else f"{value:.2f}{spread}"


def spread(value: float, apart: float | None) -> str:
    """Formats a figure with one decimal; `apart`, the range of the repeats, is added as +- half of
    it.
    """
    return f"{value:.1f}" if apart is None else f"{value:.1f} +-{apart / 2:.1f}"


def from_here(text: str) -> str:
    """Shortens paths of files below the working directory."""
    return text.replace(f"{Path.cwd()}/", "")
