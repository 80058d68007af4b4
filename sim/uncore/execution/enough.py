"""Lengths and numbers of runs that follow from what is asked of their rate (`--within`; rule W4).

A plan says which points of its job to run next, until it has enough:

    asks()                    the points of a round; none: it has ended
    take(point, observed)     what came of one of them
    ended()                   the job whose points are kept (`kept`), and the rates

All runs of a search last a time instead of so many operations, behind a warm-up in which all
threads start, so that all are there from the beginning to the end.  At each thread count first a
run of a set time tells how long an operation takes.  Threads start two operations' time apart, or
as the machine says if that is less (V3): the order in which they come to a lock, which may stay for
the whole run, is by chance.  A thread looks at the clock for the first time when it has done
its part of the operations: a look takes as long as a short one.  Where little of a run is its
steady state, or that still becomes faster or slower, it is made twice as long.  While the interval
of the median of the rates is wider than asked, more runs follow if it would do without the
outermost ones, as many as the next number of RUNS; otherwise longer ones.
While operations still fetch lines that memory has not sent before, caches are cold, and runs are
made longer, too.  So they are where few lines are fetched, until one twice as long has the same
rate.
No interval is narrower than FLOOR says, however well its runs agree: they share what warm-up is
left.
Invariant: all follows from the job, so its result does, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from statistics import fmean, median_low, pvariance, stdev
from typing import Any

import msgspec

from uncore.engine import Probes
from uncore.job import Job
from uncore.job.job import Length
from uncore.result.repeats import rate
from uncore.result.schema import Estimate, Point
from uncore.support.steady import Pace, halves_apart, interval

RUNS = (3, 6, 9, 17)  # of a length
FLOOR = 2  # no interval is narrower than a part in so many of what was asked
BIAS = 4  # a run twice as long must not differ by more than a part in so many of what was asked
LEAST_OPS, LEAST_OPS_EACH = 128, 2  # of what is measured of a run: in all, and of each thread
# A run of this length and its warm-up end before --max-time and --watchdog give it up.
MAX_MEASURED_NS = 150_000_000
LEAST_FETCHED = 96  # lines, by each thread
LEAST_HITS_NS = 20_000  # where operations fetch few lines: many of them cost little
FEW_FETCHED = 0.5  # lines an operation
WARM_OPS_EACH = 2  # of the warm-up once all threads are there
CHOICES, NEARLY = 3, 1.5  # of a length at most; times as long as a run was is no reason for another
LONGEST = 16  # times as long as the first are the longest
SHORT, UNSTEADY = 4, 64  # the same of runs with little steady state, and with none
ENOUGH = 3  # a steady state is at least a part in so many of its run
BRIEF_NS, GROWS = 10_000, 4  # the first run of all; times as long as one is the next
TURNS = 8  # of each hart in a run whose halves can be compared
DRIFT = 3  # standard errors by which the halves of runs must not differ in the mean
APART = 2  # operations' times between two harts' starts
# Cold misses do not end where an operation has more than this part of those in a run half as long.
MAX_COLD_LEFT = 0.95
MAX_WARM_PART = 0.1  # cold misses an operation, and of all lines fetched: fewer are as if warm
DEAR_OPS, DEAR_LINES = 600, 1200  # done and fetched by each thread in all runs: no others follow
# A search of fewer threads may cost as much as one of so many until its runs are steady and warm.
MIN_BUDGET_THREADS = 64
PACE = "pace"  # the probe


class Plan:
    """A job whose points are known beforehand."""

    probes: Probes = frozenset()  # observers that it needs

    def __init__(self, job: Job) -> None:
        self.job = job
        self.kept = [*job.points()]
        self._asked = False

    def asks(self) -> list[Job]:
        asked, self._asked = [] if self._asked else self.kept, True
        return asked

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        """Nothing follows from it."""

    def ended(self) -> tuple[Job, list[Estimate]]:
        return self.job, []


class Search(Plan):
    """A job that says how narrow the interval of its rates is to be."""

    probes = frozenset({PACE})

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._counts = {threads: _Count(job, threads) for threads in job.threads}

    def asks(self) -> list[Job]:
        return [point for count in self._counts.values() for point in count.asks()]

    @property
    def points(self) -> list[Point]:
        """The runs of the present lengths that have ended."""
        return [point for count in self._counts.values() for point in count.points]

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        self._counts[point.threads].take(point, msgspec.convert(observed[PACE], Pace))

    def ended(self) -> tuple[Job, list[Estimate]]:
        return self._ended

    @cached_property
    def _ended(self) -> tuple[Job, list[Estimate]]:
        """Made once: whoever asks has the same machine, by which observations are found."""
        counts = self._counts.values()
        seeds = _seeds(self.job, max(count.runs for count in counts))
        lengths = tuple(count.length for count in counts)
        estimated = [count.estimated() for count in counts if count.complete]
        job = replace(self.job, within=0, seeds=seeds, lengths=lengths)
        self.kept = [*job.points()]
        return job, estimated


def _seeds(job: Job, runs: int) -> tuple[int, ...]:
    """Those of the job, and the numbers behind them."""
    behind = max(job.seeds) + 1
    return (*job.seeds, *range(behind, behind + runs))[:runs]


def plan(job: Job) -> Plan:
    return Search(job) if job.within else Plan(job)


def _fetched(point: Point) -> int:
    """Lines, where the engine counts them."""
    return sum((point.transfers or {}).values())


@dataclass
class _Count:
    """The search at one thread count."""

    job: Job
    threads: int
    operations: int = 0  # of all runs, kept or not
    fetched: int = 0  # lines
    _asked: int = 0  # runs of this length
    _times: int = 1  # as long as the first
    _shorter_rate: float | None = None  # the rate of a run half as long
    _shorter_cold: float | None = None  # its cold misses for an operation
    _chosen: int = 0  # times that a length was chosen
    _points: dict[int, Point] = field(default_factory=dict)  # those that have ended, by seed
    _paces: dict[int, Pace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.length = self._timed(BRIEF_NS)

    def _timed(self, duration: int) -> Length:
        """A single run of so many ns, behind a warm-up as long in which harts start."""
        start = min(self.job.chance.start, 1000 * duration // self.threads)
        return Length(self.threads, 0, 1, start, duration, duration)

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
        seeds = _seeds(self.job, self.runs)[self._asked :]
        self._asked = self.runs
        job = replace(self.job, lengths=(self.length,))
        return [job.at(self.threads, seed) for seed in seeds]

    @property
    def points(self) -> list[Point]:
        return [*self._points.values()]

    def take(self, point: Point, pace: Pace) -> None:
        assert isinstance(point.seed, int)
        self.operations += point.ops
        self.fetched += _fetched(point)
        self._points[point.seed] = point
        self._paces[point.seed] = pace

    def _judge(self) -> None:
        """Whether runs of this length will do, and how many."""
        if not self._chosen and not self._steady and self.length.duration < self._longest:
            self._begin(self._timed(GROWS * self.length.duration))
        elif self._chosen < CHOICES and self._longer_wanted:
            self._chosen += 1
            self._begin(self._choice)
        elif self._unready:
            self._longer(2)
        elif self.runs < self._first_runs:
            self._more()
        elif self._few_asked:
            return
        elif self._drifts and self._times < LONGEST and self._may_double and not self._dear:
            self._longer(2)
        elif not self._narrow() and not self._dear:
            longer = self._may_double and self._times * self._wanted <= LONGEST
            if self.runs < RUNS[-1] and (not longer or self._narrow(further=1)):
                self._more()
            elif longer:
                self._longer(self._wanted)

    @property
    def _choice(self) -> Length:
        """The length of runs by what the one tells that was made: how long an operation takes, and
        how many lines it fetches."""
        (point,) = self._points.values()
        took = 1e12 / (rate(point) or 1)  # ps
        start = min(self.job.chance.start, round(APART * took))
        ops = max(LEAST_OPS, LEAST_OPS_EACH * self.threads)
        if self._hits:
            ops = max(ops, ceil(1000 * LEAST_HITS_NS / took))
        else:
            each = LEAST_FETCHED * point.ops / max(1, _fetched(point))
            ops = max(ops, ceil(each * self.threads))
        ops = min(ops, ceil(1000 * MAX_MEASURED_NS / took))
        late = start * self.threads
        warmup = late + max(WARM_OPS_EACH * self.threads, ops // GROWS) * took
        unclocked = max(1, ops // self.threads)
        lasts, warms = (ceil(time / 1000) for time in (ops * took, warmup))
        return Length(self.threads, unclocked, 1, start, lasts, warms)

    @property
    def _hits(self) -> bool:
        """Whether operations find most lines in their caches; then many of them cost little."""
        fetched = sum(map(_fetched, self._points.values()))
        return fetched < FEW_FETCHED * self._ops

    @property
    def _unready(self) -> bool:
        """True if runs of a length show that what is steady comes later, and longer ones can be
        had."""
        if not self._may_double:
            return False
        if (self._times < UNSTEADY and self._short) or (self._times < LONGEST and self._cold):
            return not self._costs_as(max(self.threads, MIN_BUDGET_THREADS))
        return self._times < LONGEST and self._moves and not self._dear

    @property
    def _cold(self) -> bool:
        """True if operations still fetch lines that memory has not sent before, and fewer than in a
        run half as long: some programs always fetch such lines."""
        lines, misses = sum(map(_fetched, self._points.values())), self._cold_misses
        if misses <= MAX_WARM_PART * max(1, lines / max(1, self._ops)):
            return False
        return self._shorter_cold is None or misses < MAX_COLD_LEFT * self._shorter_cold

    @property
    def _ops(self) -> int:
        return sum(point.ops for point in self._points.values())

    @property
    def _cold_misses(self) -> float:
        """Cold misses for an operation."""
        return sum(pace.cold_misses for pace in self._paces.values()) / max(1, self._ops)

    @property
    def _moves(self) -> bool:
        """True if a run half as long had another rate, or if there was none though operations fetch
        few lines: what is rare (a grace period, a scan) may begin behind so short a warm-up."""
        fetched = sum(map(_fetched, self._points.values()))
        if self.runs > 1 or not self._hits or fetched < self.threads:
            return False
        if self._shorter_rate is None:
            return True
        return abs(self._ordered()[0] / self._shorter_rate - 1) > self.job.within / 1e6 / BIAS

    @property
    def _longer_wanted(self) -> bool:
        """Whether the length that follows from a run is more than it had.  Looks at the clock make
        the first one slower than those that look less often."""
        if self.runs > 1 or self._times > 1:
            return False
        return not self._chosen or self._choice.ops > NEARLY * self.length.ops

    @property
    def _dear(self) -> bool:
        """Whether the runs so far have cost what a search may cost."""
        return self._costs_as(self.threads)

    def _costs_as(self, threads: int) -> bool:
        """True if the runs so far have cost what a search of so many threads may cost."""
        return self.operations >= DEAR_OPS * threads and self.fetched >= DEAR_LINES * threads

    @property
    def _few_asked(self) -> bool:
        """Whether the job has too few seeds for an interval: then it has no other runs."""
        return len(self.job.seeds) < RUNS[0]

    @property
    def _first_runs(self) -> int:
        """As many as the job has seeds, where that is more."""
        if self._few_asked:
            return len(self.job.seeds)
        return max(RUNS[0 if self._hits else 1], min(len(self.job.seeds), RUNS[-1]))

    def _more(self) -> None:
        more = next(runs for runs in RUNS if runs > self.runs or runs == RUNS[-1])
        first = self._first_runs
        self.length = self.length._replace(runs=first if self.runs < first else more)

    @property
    def _may_double(self) -> bool:
        """True if a run twice as long still ends before its limits do."""
        return 2 * self.length.duration <= MAX_MEASURED_NS

    def _longer(self, times: int) -> None:
        self._times *= times
        self._shorter_rate, self._shorter_cold = self._ordered()[0], self._cold_misses
        length = self.length
        longer = {"ops": times * length.ops, "duration": times * length.duration}
        self._begin(length._replace(**longer, warmup=times * length.warmup, runs=1))

    def _begin(self, length: Length) -> None:
        self.length, self._asked = length, 0
        self._points, self._paces = {}, {}

    @property
    def _longest(self) -> int:
        """ns of a run that should have shown how long an operation takes."""
        return LONGEST * max(BRIEF_NS, 2 * self.job.chance.start * self.threads // 1000)

    def _narrow(self, further: int = 0) -> bool:
        rates = self._ordered()
        low, high = interval(rates, further)
        return (high - low) / 2 <= self.job.within / 1e6 * median_low(rates)

    @property
    def _drifts(self) -> bool:
        """Whether the steady states still become faster or slower, by more than is asked."""
        halves = [halves_apart(pace) for pace in self._paces.values()]
        mean = abs(fmean(halves))
        surely = mean > DRIFT * stdev(halves) / len(halves) ** 0.5
        return surely and mean > self.job.within / 1e6

    @property
    def _wanted(self) -> int:
        """How many times as long runs should be; more than the longest where that does not help.

        Runs of a lock differ by the order of threads, which stays: more of them follow first, and
        longer ones if the halves of a run, in which all had two turns, differ as runs do."""
        rates, paces = self._ordered(), self._paces.values()
        in_a_run = fmean(halves_apart(pace) ** 2 for pace in paces) / 4
        turns = min(point.ops for point in self._points.values()) / self.threads
        alike = 2 * in_a_run * fmean(rates) ** 2 < pvariance(rates)
        return LONGEST + 1 if turns < TURNS or alike or self.runs < RUNS[-1] else 2

    @property
    def _short(self) -> bool:
        """Whether little is steady, in most runs."""
        if not self._steady:
            return True
        short = sum(map(self._mostly_unsteady, self._points.values()))
        return self._times < SHORT and 2 * short > self.runs

    def _mostly_unsteady(self, point: Point) -> bool:
        return point.measured[1] * ENOUGH < self.length.duration * 1000

    @property
    def _steady(self) -> bool:
        return all(isinstance(point.steady, tuple) for point in self._points.values())

    def _ordered(self) -> list[float]:
        """Rates by seed."""
        return [rate(self._points[seed]) for seed in sorted(self._points)]

    def estimated(self) -> Estimate:
        rates = self._ordered()
        middle = median_low(rates)
        low, high = interval(rates)
        floor = self.job.within / 1e6 / FLOOR * middle
        done = fmean(point.ops for point in self._points.values())
        return Estimate(
            threads=self.threads,
            within=self.job.within,
            throughput=int(middle),
            low=None if self._few_asked else round(min(low, middle - floor)),
            high=None if self._few_asked else round(max(high, middle + floor)),
            ops=round(done / self.threads),
            operations=self.operations,
        )
