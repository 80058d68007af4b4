"""Figures of repeated runs: the median's, and how far the repeats' are apart.

figure(head, of, write, about)   a column; `of(run)` is the figure of a run, that of the median (the
                                 row itself) or of each of the row's `runs`; `write(value, apart)`
throughput(head, key)   of rows that have the figure at `key`, and the least and the greatest of its
                        repeats at `key`_min and `key`_max, or nothing there: one run
height(row, key)        the same for a curve, in millions
say_seeds(seeds)        what has been shown, below the table
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from uncore.drawing import formats as units
from uncore.drawing.table import Column, Row, say

MILLION = 1e6
Write = Callable[[float | None, float | None], str]


def figure(
    head: str, of: Callable[[Row], float | None], write: Write, about: str = "", **more: Any
) -> Column:
    def written(row: Row) -> str:
        bounds = ends(row, of)
        return write(of(row), bounds[1] - bounds[0] if bounds else None)

    return Column(head, written, about=about, **more)


def ends(row: Row, of: Callable[[Row], float | None]) -> tuple[float, float] | None:
    """The least and the greatest of the repeats; None of one run."""
    values = [value for run in row.get("runs", ()) if (value := of(run)) is not None]
    return (min(values), max(values)) if len(values) > 1 else None


def _ends(row: Row, key: str) -> list[float]:
    return [row[end] for end in (f"{key}_min", f"{key}_max") if row.get(end) is not None]


def throughput(head: str = "ops/s", key: str = "throughput", **more: Any) -> Column:
    def written(row: Row) -> str:
        bounds = _ends(row, key)
        return units.rate(row[key], max(bounds) - min(bounds) if bounds else None)

    about = "operations a second of simulated time, all threads together"
    return Column(head, written, about=about, **more)


def height(row: Row, key: str = "throughput") -> list[float]:
    return [value / MILLION for value in (row[key] or 0, *_ends(row, key))]


def say_seeds(seeds: Iterable[int]) -> None:
    numbers = sorted(set(seeds))
    if len(numbers) == 1:
        say(f"seed {numbers[0]}", "dim")
    elif numbers:
        words = "the run of median throughput; +- is half of what the least and greatest are apart"
        say(f"seeds {', '.join(map(str, numbers))}: {words}", "dim")
