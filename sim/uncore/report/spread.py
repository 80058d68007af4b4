"""Figures of repeated runs: the median, and how far its repeats are apart.

throughput(head, key)   a column; a row has the figure at `key`, and the least and the greatest
                        of its repeats at `key`_min and `key`_max, or nothing there: one run
height(row, key)        the same for a curve, in millions
say_seeds(seeds)        what has been shown, below the table
"""

from __future__ import annotations

from collections.abc import Iterable

from uncore.report import units
from uncore.report.table import Column, Row, console

MILLION = 1e6


def _ends(row: Row, key: str) -> list[float]:
    return [row[end] for end in (f"{key}_min", f"{key}_max") if row.get(end) is not None]


def throughput(head: str = "ops/s", key: str = "throughput") -> Column:
    def written(row: Row) -> str:
        ends = _ends(row, key)
        return units.rate(row[key], max(ends) - min(ends) if ends else None)

    return Column(head, written)


def height(row: Row, key: str = "throughput") -> list[float]:
    return [value / MILLION for value in (row[key] or 0, *_ends(row, key))]


def say_seeds(seeds: Iterable[int]) -> None:
    found = sorted(set(seeds))
    if len(found) == 1:
        console().print(f"seed {found[0]}", style="dim")
    elif found:
        words = "the run of median throughput; +- is half of what the slowest and fastest are apart"
        console().print(f"seeds {', '.join(map(str, found))}: {words}", style="dim", soft_wrap=True)
