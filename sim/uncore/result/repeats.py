"""Repeats: runs of one thread count that differ only in their seeds.

    repeats(result)        a Repeats for each thread count, in the job's order
    Repeats.median         the run with the median throughput, which represents the thread count
    to_medians(results)    the table that commands print: a row for each thread count

The median is an actual run; if the number of runs is even, it is the slower one of the middle two.
So all values in a row are of the same run, and its seed alone reproduces them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from uncore.result import columns
from uncore.result.frame import to_row
from uncore.result.schema import Estimate, Point, Result


@dataclass(frozen=True)
class Repeats:
    """The runs of one thread count, in the order of the job's seeds; at least one."""

    points: Sequence[Point]
    estimated: Estimate | None = None  # set if the number and length of runs were searched

    @property
    def threads(self) -> int:
        return self.points[0].threads

    @property
    def median(self) -> Point:
        return sorted(self.points, key=rate)[(len(self.points) - 1) // 2]

    @property
    def rates(self) -> list[float]:
        """Returns the throughput of each run, in operations per second."""
        return [*map(rate, self.points)]

    @property
    def rate(self) -> float:
        """Returns the throughput of the median run, or the estimate of a search."""
        return self.estimated.throughput if self.estimated else rate(self.median)

    @property
    def throughput(self) -> int | None:
        """Returns `rate` as an integer; None if no time passed."""
        return self.estimated.throughput if self.estimated else self.median.throughput

    @property
    def ends(self) -> tuple[float, float] | tuple[None, None]:
        """Returns the smallest and largest throughput, or the interval that a search found; (None,
        None) for a single run.
        """
        if self.estimated:
            return self.estimated.ends
        rates = self.rates
        return (min(rates), max(rates)) if len(rates) > 1 else (None, None)

    def columns(self) -> dict[str, Any]:
        """Returns columns that describe all repeats; they are added to the row of the median."""
        smallest, largest = self.ends
        runs = [columns.values(point, in_repeats=True) for point in self.points]
        return {
            "repeats": len(self.points),
            "seeds": [point.seed for point in self.points if isinstance(point.seed, int)],
            "throughputs": [run["throughput"] for run in runs],
            "throughput_min": None if smallest is None else int(smallest),
            "throughput_max": None if largest is None else int(largest),
            "runs": runs,
            **(self.estimated.columns() if self.estimated else {}),
        }


def rate(point: Point) -> float:
    """Returns the throughput in operations per second; 0 if no time passed."""
    ops, ps = point.measured
    return ops / ps * 1e12 if ps else 0.0


def repeats(result: Result) -> list[Repeats]:
    """Returns the repeats of each thread count."""
    estimated = {estimate.threads: estimate for estimate in result.estimated}
    return [
        replace(same_count, estimated=estimated.get(same_count.threads))
        for same_count in of_points(result.points)
    ]


def of_points(points: Iterable[Point]) -> list[Repeats]:
    """Groups points by thread count."""
    by_count: dict[int, list[Point]] = {}
    for point in points:
        by_count.setdefault(point.threads, []).append(point)
    return [Repeats(group) for group in by_count.values()]


def to_medians(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Returns a row for each thread count of all results."""
    return [
        to_row(result, same_count.median) | same_count.columns()
        for result in results
        for same_count in repeats(result)
    ]
