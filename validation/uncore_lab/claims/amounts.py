"""The numbers of a run that a claim can use: of a point, and of a curve over thread counts.

    curve.at(64).throughput       curve.point.throughput, where the run has one thread count
    curve.peak                    README.md lists all

    Curve.of(result, units)       the curves of a run, one for each of its seeds

Times are in ns, whatever the unit of a table.  A number that the result lacks raises LookupError or
ValueError.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import UnsetType

from uncore.result import Point, Result
from uncore.result.repeats import rate, repeats

Seed = int | UnsetType  # seed of a point; UNSET if it ran in lockstep
NS_PER_UNIT = {"ps": 1e-3, "ns": 1.0, "us": 1e3}  # numbers of other units stay as they are
KNEE_THROUGHPUT_SHARE = 0.9


@dataclass(frozen=True)
class Amounts:
    """The numbers of one point."""

    of: Point
    units: Mapping[str, str]  # table name -> its unit

    @property
    def throughput(self) -> float:
        """Operations per second of all threads."""
        return rate(self.of)

    @property
    def time(self) -> float:
        """Time of an operation of one thread, in ns."""
        return self.of.threads / self.throughput * 1e9

    @property
    def interval(self) -> float:
        """Mean time from one operation to the next, of any thread, in ns."""
        return 1e9 / self.throughput

    @property
    def p50(self) -> float:
        """Median latency of operations, in ns."""
        return self._latency("p50")

    @property
    def p99(self) -> float:
        """99th percentile of the latency of operations, in ns."""
        return self._latency("p99")

    @property
    def unfairness(self) -> float:
        """Largest number of operations of a thread over the smallest."""
        return max(self.of.thread_ops) / min(self.of.thread_ops)

    def fetched(self, *classes: str) -> float:
        """Returns lines fetched per operation; with `classes`, only those from these distances."""
        moved = self.of.transfers
        if moved is None:
            raise ValueError(f"no transfers: {self.of.absent['transfers']}")
        return sum(moved.get(c, 0) for c in classes or moved) / self.of.ops

    def cell(self, table: str, row: int, column: int) -> float:
        """Returns one number of a table that the workload prints."""
        return self.of.tables[table][row][column] * NS_PER_UNIT.get(self.units[table], 1.0)

    def typical(self, table: str, column: int | None = None) -> float:
        """Returns the median of the nonzero cells of a column, or of the whole table."""
        cells = [
            cell
            for row in self.of.tables[table]
            for place, cell in enumerate(row)
            if cell and column in (None, place)
        ]
        return statistics.median(cells) * NS_PER_UNIT.get(self.units[table], 1.0)

    def _latency(self, name: str) -> float:
        if self.of.latency is None:
            raise ValueError(f"no latency: {self.of.absent['latency']}")
        return int(getattr(self.of.latency, name)) / 1000


@dataclass(frozen=True)
class Curve:
    """The numbers of a run with one seed, by thread count."""

    points: Mapping[int, Amounts]

    @classmethod
    def of(cls, result: Result, units: Mapping[str, str]) -> dict[Seed, Curve]:
        """Returns the curve of each seed with which every thread count was run."""
        counts = [
            {point.seed: Amounts(point, units) for point in repeat.points}
            for repeat in repeats(result)
        ]
        seeds = [seed for seed in counts[0] if all(seed in count for count in counts)]
        return {
            seed: cls({count[seed].of.threads: count[seed] for count in counts}) for seed in seeds
        }

    def at(self, threads: int) -> Amounts:
        return self.points[threads]

    @property
    def point(self) -> Amounts:
        """The numbers of the only thread count; raises ValueError if there are several."""
        (only,) = self.points.values()
        return only

    @property
    def best(self) -> float:
        """The highest throughput, in operations per second."""
        return self.at(self.peak).throughput

    @property
    def peak(self) -> int:
        """The thread count with the highest throughput."""
        return max(self.points, key=lambda threads: self.at(threads).throughput)

    @property
    def knee(self) -> int:
        """The smallest thread count with nine tenths of the best throughput."""
        knee_rate = KNEE_THROUGHPUT_SHARE * self.best
        return min(n for n, amounts in self.points.items() if amounts.throughput >= knee_rate)
