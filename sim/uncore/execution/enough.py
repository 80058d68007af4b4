"""Lengths and numbers of runs that follow from what is asked of their rate (`--within`).

A plan says which points of its job to run next, until it has enough:

    asks()                    the points of a round; none: it has ended
    take(point, observed)     what came of one of them
    ended()                   the job whose points are kept, and the rates

At each thread count first a run of a set time tells how long an operation takes.  Where harts take
turns, all runs are timed: then all harts are there to the end, and none has done its work before
the last one comes.  Where a hart does several operations with a line in hand, the clock that a
timed loop reads would slow them down, which a trial of few harts tells; there runs are of so many
operations.  Harts start two operations' time apart, or as the machine says if that is less (V3):
the order in which they come to a lock, which may stay for the whole run, is by chance.
Where little of a run is its steady state, or that still becomes faster or slower, it is made twice
as long.  While the interval of the median of the rates is wider than asked, more runs follow if it
would do without the outermost ones, as many as the next number of RUNS; otherwise longer ones.
Timed runs differ by the order of harts, which stays, so that more of them follow first.
No interval is narrower than FLOOR says, however well its runs agree: they share what warm-up is
left.
Invariant: all follows from the job, so its result does, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from statistics import fmean, median_low, pvariance, stdev
from typing import Any

import msgspec

from uncore.engine import Probes
from uncore.errors import UserError
from uncore.job import Job
from uncore.job.job import LASTS, OPS, Length
from uncore.result.repeats import rate
from uncore.result.schema import Estimate, Point
from uncore.result.steady import Pace, apart, interval, steady

RUNS = (6, 9, 17)  # of a length: each drops two more from its interval than the one before
FLOOR = 4  # no interval is narrower than a part in so many of what was asked
FEW, LEAST = 256, 16  # operations of a first run, in all and of each hart
TIMED_FEW, TIMED_LEAST = 128, 2  # the same of a timed run, once all are there
LONGEST = 16  # times as long as the first are the longest
SHORT, UNSTEADY = 4, 64  # the same of runs with little steady state, and with none
BRIEF, GROWS = 10_000, 4  # ns of the first run of all; times as long as one is the next
STARTS = 4  # a run of so many operations lasts so many times the start, however many that are
TURNS = 8  # of each hart in a run whose halves can be compared
NEARLY = 1.1  # times as long as wanted is a first run that is kept
CLOCK = 10**6  # ps: an operation that takes a hart longer is not slowed down by reading the clock
WAITS = 3  # lines fetched by an operation that is not done twice while a line is in hand
TRIED, TRIED_OPS, SOON = 8, 32, 100_000  # harts of a trial, operations of each; ps between starts
MANY, HURRIED = 5, 50_000  # harts that do so many operations start sooner, ps apart at least
DRIFT = 3  # standard errors by which the halves of runs must not differ in the mean
APART = 2  # operations' times between two harts' starts
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
        self._trial = _Trial(job)
        self._counts = {threads: _Count(job, threads, self._trial) for threads in job.threads}

    def asks(self) -> list[Job]:
        if asked := self._trial.asks():
            return asked
        return [point for count in self._counts.values() for point in count.asks()]

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        pace = msgspec.convert(observed[PACE], Pace)
        taker = self._counts[point.threads] if self._trial.over else self._trial
        taker.take(point, pace)

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
    given = [name for name, _ in job.parameters if name in (OPS, LASTS)]
    if not {OPS, LASTS} <= has:
        raise UserError(
            f"{asked}: {job.program.name} has no parameter '{OPS}', so it says itself how long it"
            " runs; leave --within out"
        )
    if given:
        raise UserError(f"{asked}: finds out how long runs are; leave --set {given[0]}= out")
    if not job.seeds:
        raise UserError(f"{asked}: in lockstep all runs are the same; leave --seed none out")


class _Trial:
    """Whether runs can be timed: a run of so many operations of a few harts, and one as long.

    Operations that are done in turn do not care that the loop looks at the clock between them."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._length = Length(TRIED, TRIED_OPS, 1, min(SOON, job.chance.start))
        self._rates: list[float] = []
        self._asked = 0
        self.over = max(job.threads) < TRIED
        self.timed = False

    def asks(self) -> list[Job]:
        self.over = self.over or self._asked > len(self._rates)
        if self.over:
            return []
        self._asked += 1
        return [replace(self._job, lengths=(self._length,)).at(TRIED, self._job.seeds[0])]

    def take(self, point: Point, pace: Pace) -> None:
        self._rates.append(steady(pace)[0] or 0.0)
        counted, *timed = self._rates
        fetched = sum(point.transfers.values()) if isinstance(point.transfers, dict) else 0
        self._length = self._length._replace(ops=0, duration=ceil(point.elapsed_ps / 1000))
        self.over = bool(timed) or not counted or fetched < WAITS * point.ops
        if timed:
            self.timed = abs(timed[0] / counted - 1) <= self._job.within / 1e6


@dataclass
class _Count:
    """The search at one thread count."""

    job: Job
    threads: int
    trial: _Trial
    operations: int = 0  # of all runs, kept or not
    _asked: int = 0  # runs of this length
    _times: int = 1  # as long as the first
    _known: bool = False  # how long an operation takes
    _points: dict[int, Point] = field(default_factory=dict)  # those that have ended, by seed
    _paces: dict[int, Pace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.length = self._timed(BRIEF)

    def _timed(self, duration: int) -> Length:
        """A single run of so many ns, in the first half of which harts start."""
        start = min(self.job.chance.start, 1000 * duration // 2 // self.threads)
        return Length(self.threads, 0, 1, start, duration)

    @property
    def runs(self) -> int:
        return self.length.runs

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
        self._paces[point.seed] = pace

    def _judge(self) -> None:
        """Whether runs of this length will do, and how many."""
        if not self._known and not self._steady and self.length.duration < self._longest:
            self._begin(self._timed(GROWS * self.length.duration))
        elif not self._known:
            self._known = True
            self._choose()
        elif self._brief or (self._times < UNSTEADY and self._short):
            self._longer(2)
        elif self.runs < RUNS[0]:
            self._more(RUNS[0])
        elif self._drifts and self._times < LONGEST:
            self._longer(2)
        elif not self._narrow():
            longer = self._times * self._wanted <= LONGEST
            if self.runs < RUNS[-1] and (not longer or self._narrow(further=1)):
                self._more(RUNS[RUNS.index(self.runs) + 1])
            elif longer:
                self._longer(self._wanted)

    def _choose(self) -> None:
        """The length of the runs, after one that told how long an operation takes."""
        took = round(1e12 / (self._ordered()[0] or 1))
        start = min(self.job.chance.start, APART * took)
        if took * self.threads < CLOCK or not self.trial.timed:
            ops = max(LEAST, ceil(FEW / self.threads))
            own = self.job.chance.start
            start = min(own, max(start, HURRIED)) if self.threads >= MANY else own
            self._begin(Length(self.threads, ops, 1, start))
            return
        late = start * self.threads
        duration = max(2 * late, late + max(TIMED_FEW, TIMED_LEAST * self.threads) * took)
        wanted = Length(self.threads, 0, RUNS[0], start, ceil(duration / 1000))
        alike = wanted.duration <= self.length.duration <= NEARLY * wanted.duration
        if start == self.length.start and alike:
            self._more(RUNS[0])
        else:
            self._begin(wanted)

    def _more(self, runs: int) -> None:
        self.length = self.length._replace(runs=runs)

    def _longer(self, times: int) -> None:
        longer = self.length._replace(
            ops=times * self.length.ops, duration=times * self.length.duration
        )
        self._times *= times
        self._begin(longer._replace(runs=1))

    def _begin(self, length: Length) -> None:
        self.length, self._asked = length, 0
        self._points, self._paces = {}, {}

    @property
    def _longest(self) -> int:
        """ns of a run that should have shown how long an operation takes."""
        return LONGEST * max(BRIEF, 2 * self.job.chance.start * self.threads // 1000)

    def _narrow(self, further: int = 0) -> bool:
        rates = self._ordered()
        low, high = interval(rates, further)
        return (high - low) / 2 <= self.job.within / 1e6 * median_low(rates)

    @property
    def _drifts(self) -> bool:
        """Whether the steady states still become faster or slower, by more than is asked."""
        halves = [apart(pace) for pace in self._paces.values()]
        mean = abs(fmean(halves))
        surely = mean > DRIFT * stdev(halves) / len(halves) ** 0.5
        return surely and mean > self.job.within / 1e6

    @property
    def _wanted(self) -> int:
        """How many times as long runs should be; more than the longest where that does not help.

        Where harts take turns, runs differ by the order, which stays: more of them follow first,
        and longer ones if the halves of a run, in which all had two turns, differ as runs do."""
        if not self.length.duration:
            return 2
        rates, paces = self._ordered(), self._paces.values()
        within = fmean(apart(pace) ** 2 for pace in paces) / 4
        turns = min(point.ops for point in self._points.values()) / self.threads
        alike = 2 * within * fmean(rates) ** 2 < pvariance(rates)
        return LONGEST + 1 if turns < TURNS or alike or self.runs < RUNS[-1] else 2

    @property
    def _brief(self) -> bool:
        """Whether a run of so many operations takes little more than its start."""
        start = STARTS * self.length.start * self.threads
        brief = min(point.elapsed_ps for point in self._points.values()) < start
        return brief and not self.length.duration and not self._steady

    @property
    def _short(self) -> bool:
        """Whether little is steady; a timed run has as many operations as it needs."""
        if self.length.duration or not self._steady:
            return not self._steady
        short = sum(short for _, short in map(steady, self._paces.values()))
        return self._times < SHORT and 2 * short > self.runs

    @property
    def _steady(self) -> bool:
        return None not in (steady(pace)[0] for pace in self._paces.values())

    def _ordered(self) -> list[float]:
        """Rates by seed; those of whole runs where there is no steady state."""
        seeds = sorted(self._points)
        if not self._steady:
            return [rate(self._points[seed]) for seed in seeds]
        return [steady(self._paces[seed])[0] or 0.0 for seed in seeds]

    def estimated(self) -> Estimate:
        rates = self._ordered()
        middle = median_low(rates)
        low, high = interval(rates)
        floor = self.job.within / 1e6 / FLOOR * middle
        done = fmean(point.ops for point in self._points.values())
        return Estimate(
            threads=self.threads,
            within=self.job.within,
            throughput=round(middle),
            low=round(min(low, middle - floor)),
            high=round(max(high, middle + floor)),
            rates=[round(each) for each in rates],
            steady=self._steady,
            ops=round(done / self.threads),
            operations=self.operations,
        )
