"""Lengths and numbers of runs that follow from what is asked of their rate (`--within`).

A plan says which points of its job to run next, until it has enough:

    asks()                    the points of a round; none: it has ended
    take(point, observed)     what came of one of them
    ended()                   the job whose points are kept, and the rates

At each thread count first a short run is made.  Where little of it is its steady state, it is made
twice as long; then the first RUNS are made.  While the interval of the median of their rates is
wider than asked, more runs follow if it would do without the outermost ones, as many as the next
number of RUNS; otherwise longer runs begin anew.  MANY harts leave the start sooner after one
another than in other runs (V3), but no sooner than a lock is handed on: their order stays random.
No interval is narrower than FLOOR says, however well its runs agree: they share what warm-up is
left.
Invariant: all follows from the job, so its result does, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from statistics import median_low
from typing import Any

import msgspec

from uncore.engine import Probes
from uncore.errors import UserError
from uncore.job import Job
from uncore.job.job import OPS, Length
from uncore.result.repeats import rate
from uncore.result.schema import Estimate, Point
from uncore.result.steady import Pace, interval, steady

RUNS = (6, 9, 17)  # of a length: each drops two more from its interval than the one before
FLOOR = 4  # no interval is narrower than a part in so many of what was asked
FEW, LEAST = 256, 8  # operations of a first run, in all and of each hart
LONGEST = 16  # times as long as the first are the longest
SHORT = 4  # the same of runs with little steady state
MANY, START = 5, 250_000  # harts; ps, for each of them, by which so many leave the start
STARTS = 4  # a run that takes less than so many times the start is doubled, however long
LENGTHS = (OPS, "duration")  # parameters that say how long a run is
PACE = "pace"  # the probe


class Plan:
    """A job whose points are known beforehand."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._asked = [*job.points()]

    def asks(self) -> list[Job]:
        asked, self._asked = self._asked, []
        return asked

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        """Nothing follows from it."""

    def ended(self) -> tuple[Job, list[Estimate]]:
        return self.job, []


class Search(Plan):
    """A job that says how narrow the interval of its rates is to be."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        _check(job)
        self._counts = {threads: _Count(job, threads) for threads in job.threads}

    def asks(self) -> list[Job]:
        return [point for count in self._counts.values() for point in count.asks()]

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        pace = msgspec.convert(observed[PACE], Pace)
        self._counts[point.threads].take(point, pace)

    def ended(self) -> tuple[Job, list[Estimate]]:
        counts = self._counts.values()
        first = self.job.seeds[0]
        seeds = tuple(range(first, first + max(count.runs for count in counts)))
        lengths = tuple(count.length for count in counts)
        estimated = [count.estimated() for count in counts if count.complete]
        return replace(self.job, within=0, seeds=seeds, lengths=lengths), estimated


def plan(job: Job) -> Plan:
    return Search(job) if job.within else Plan(job)


def probes(jobs: Iterable[Job]) -> Probes:
    """What their plans look at."""
    return frozenset({PACE} if any(job.within for job in jobs) else ())


def _check(job: Job) -> None:
    asked = f"--within {job.within / 10_000:g}%"
    has = {parameter.name for parameter in job.program.params}
    given = [name for name, _ in job.parameters if name in LENGTHS]
    if not {*LENGTHS} <= has:
        raise UserError(
            f"{asked}: {job.program.name} has no parameter '{OPS}', so it says itself how long it"
            " runs; leave --within out"
        )
    if given:
        raise UserError(f"{asked}: finds out how long runs are; leave --set {given[0]}= out")
    if not job.seeds:
        raise UserError(f"{asked}: in lockstep all runs are the same; leave --seed none out")


@dataclass
class _Count:
    """The search at one thread count."""

    job: Job
    threads: int
    ops: int = 0  # of each hart
    runs: int = 1
    operations: int = 0  # of all runs, kept or not
    _asked: int = 0  # runs of this length
    _points: dict[int, Point] = field(default_factory=dict)  # those that have ended, by seed
    _rates: dict[int, tuple[float | None, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ops = self._first = max(LEAST, ceil(FEW / self.threads))

    @property
    def length(self) -> Length:
        own = self.job.chance.start
        start = min(own, START) if self.threads >= MANY else own
        return Length(self.threads, self.ops, self.runs, start)

    @property
    def complete(self) -> bool:
        return len(self._points) == self.runs

    def asks(self) -> list[Job]:
        """The runs that follow from those that have ended; none where a program went wrong."""
        if len(self._points) < self._asked:
            return []
        if self._asked:
            self._judge()
        seeds = [self.job.seeds[0] + number for number in range(self._asked, self.runs)]
        self._asked = self.runs
        job = replace(self.job, lengths=(self.length,))
        return [job.at(self.threads, seed) for seed in seeds]

    def take(self, point: Point, pace: Pace) -> None:
        assert isinstance(point.seed, int)
        self.operations += point.ops
        self._points[point.seed] = point
        self._rates[point.seed] = steady(pace)

    def _judge(self) -> None:
        """Whether runs of this length will do, and how many."""
        longer = self.ops < LONGEST * self._first
        if self._brief or (self._short and self.ops < SHORT * self._first):
            self._begin(2 * self.ops)
        elif self.runs < RUNS[0]:
            self.runs = RUNS[0]
        elif not self._narrow():
            if self.runs < RUNS[-1] and (not longer or self._narrow(further=1)):
                self.runs = RUNS[RUNS.index(self.runs) + 1]
            elif longer:
                self._begin(2 * self.ops)

    def _begin(self, ops: int) -> None:
        self.ops, self.runs, self._asked = ops, 1, 0
        self._points, self._rates = {}, {}

    def _narrow(self, further: int = 0) -> bool:
        rates = self._ordered()
        low, high = interval(rates, further)
        return (high - low) / 2 <= self.job.within / 1e6 * median_low(rates)

    @property
    def _brief(self) -> bool:
        start = STARTS * self.length.start * self.threads
        brief = min(point.elapsed_ps for point in self._points.values()) < start
        return brief and not self._steady

    @property
    def _short(self) -> bool:
        return not self._steady or 2 * sum(short for _, short in self._rates.values()) > self.runs

    @property
    def _steady(self) -> bool:
        return None not in (rate for rate, _ in self._rates.values())

    def _ordered(self) -> list[float]:
        """Rates by seed; those of whole runs where there is no steady state."""
        seeds = sorted(self._points)
        if not self._steady:
            return [rate(self._points[seed]) for seed in seeds]
        return [self._rates[seed][0] or 0.0 for seed in seeds]

    def estimated(self) -> Estimate:
        rates = self._ordered()
        middle = median_low(rates)
        low, high = interval(rates)
        floor = self.job.within / 1e6 / FLOOR * middle
        return Estimate(
            threads=self.threads,
            within=self.job.within,
            throughput=round(middle),
            low=round(min(low, middle - floor)),
            high=round(max(high, middle + floor)),
            rates=[round(each) for each in rates],
            steady=self._steady,
            ops=self.ops,
            operations=self.operations,
        )
