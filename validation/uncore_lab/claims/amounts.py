"""The numbers of a run that a claim can use: those of a point, and those of a curve over threads.

    curve.at(64).throughput       of the point with 64 threads
    curve.point.throughput        of the only point, if the run has one thread count
    curve.peak                    of the whole curve; README.md lists all numbers

    Curve.of(result, units)       the curves of a run, one for each of its seeds

Times are in ns, whatever the unit of the workload's table.  A number that the result lacks raises
LookupError or ValueError.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import UnsetType

from uncore.result import Point, Result
from uncore.result.repeats import rate, repeats

Seed = int | UnsetType  # seed of a point; UNSET if it ran in lockstep
NS_PER_UNIT = {"ps": 1e-3, "ns": 1.0, "us": 1e3}  # numbers in other units are not converted
KNEE_THROUGHPUT_SHARE = 0.9


@dataclass(frozen=True)
class Amounts:
    """The numbers of one point."""

    result: Point
    units: Mapping[str, str]  # unit of each table, by its name

    @property
    def throughput(self) -> float:
        """Operations per second of all threads."""
        return rate(self.result)

    @property
    def time(self) -> float:
        """Time of an operation of one thread, in ns."""
        return self.result.threads / self.throughput * 1e9

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
        return max(self.result.thread_ops) / min(self.result.thread_ops)

    def fetched(self, *classes: str) -> float:
        """Returns lines fetched per operation; with `classes`, only those from these distances."""
        transfers = self.result.transfers
        if transfers is None:
            raise ValueError(f"no transfers: {self.result.absent['transfers']}")
        return sum(transfers.get(c, 0) for c in classes or transfers) / self.result.ops

    def cell(self, table: str, row: int, column: int) -> float:
        """Returns one number of a table that the workload prints."""
        return self.result.tables[table][row][column] * NS_PER_UNIT.get(self.units[table], 1.0)

    def typical(self, table: str, column: int | None = None) -> float:
        """Returns the median of the nonzero cells of a column, or of the whole table."""
        cells = [
            cell
            for row in self.result.tables[table]
            for place, cell in enumerate(row)
            if cell and column in (None, place)
        ]
        return statistics.median(cells) * NS_PER_UNIT.get(self.units[table], 1.0)

    def _latency(self, name: str) -> float:
        if self.result.latency is None:
            raise ValueError(f"no latency: {self.result.absent['latency']}")
        return int(getattr(self.result.latency, name)) / 1000


@dataclass(frozen=True)
class Curve:
    """The numbers of a run with one seed, by thread count."""

    points: Mapping[int, Amounts]

    @classmethod
    def of(cls, result: Result, units: Mapping[str, str]) -> dict[Seed, Curve]:
        """Returns a curve for each seed, without seeds that did not run every thread count."""
        counts = [
            {point.seed: Amounts(point, units) for point in repeat.points}
            for repeat in repeats(result)
        ]
        seeds = [seed for seed in counts[0] if all(seed in count for count in counts)]
        return {
            seed: cls({count[seed].result.threads: count[seed] for count in counts})
            for seed in seeds
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
        """The smallest thread count with at least nine tenths of the best throughput."""
        knee_rate = KNEE_THROUGHPUT_SHARE * self.best
        return min(n for n, amounts in self.points.items() if amounts.throughput >= knee_rate)
