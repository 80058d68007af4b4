"""Chooses lengths and numbers of runs, so that the interval of their rate is as narrow as asked
(`--within`; rule W4).

A plan says which points of its job to run next, until it has enough:

    asks()                    the points of the next round; none: the plan has ended
    take(point, observed)     takes the outcome of one of them
    ended()                   the job whose points are in the result (`kept`), and the rates

All runs of a search last a set time instead of a number of operations. A warm-up in which all
threads start comes first, so that all threads work during the whole measured time. At each thread
count, a first run of fixed length measures how long an operation takes. Threads start two
operations' time apart, or as the machine says if that is less (V3): the order in which they come to
a lock, which may stay for the whole run, is by chance. A thread reads the clock for the first time
when it has done its share of the operations, because reading the clock takes as long as a short
operation. If little of a run is steady state, or the steady state still becomes faster or slower,
the run's length is doubled. While the interval of the median rate is wider than asked, there are
two cases. If it would be narrow enough without the outermost rates, more runs follow, up to the
next number in RUNS; otherwise runs are made longer. While operations still fetch lines that memory
has not sent before, caches are cold, and runs are made longer, too. If operations fetch few lines,
runs are made longer until one twice as long has the same rate. FLOOR limits how narrow an interval
is reported, however well its runs agree, because all runs share a remaining effect of the warm-up.
Invariant: every choice is a function of the job, so the result is reproducible.
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

RUNS = (3, 6, 9, 17)  # numbers of runs of one length
FLOOR = 2  # no reported interval is narrower than 1/FLOOR of the width asked
BIAS = 4  # a run twice as long must not differ by more than 1/BIAS of the width asked
LEAST_OPS, LEAST_OPS_EACH = 128, 2  # least measured operations of a run: in all, and per thread
# A run of this length and its warm-up end before --max-time and --watchdog give it up.
MAX_MEASURED_NS = 150_000_000
LEAST_FETCHED = 96  # least number of lines fetched per thread
# Least measured time if operations fetch few lines, since such runs cost little.
LEAST_HITS_NS = 20_000
FEW_FETCHED = 0.5  # lines per operation, below which operations fetch few lines
WARM_OPS_EACH = 2  # operations per thread in the warm-up after all threads have started
# Most choices of a length; a length within this factor of the last run's is not chosen anew.
CHOICES, NEARLY = 3, 1.5
LONGEST = 16  # the longest runs are this many times as long as the first
SHORT, UNSTEADY = 4, 64  # limits like LONGEST: for runs with little steady state, and with none
ENOUGH = 3  # a steady state must be at least 1/ENOUGH of its run
BRIEF_NS, GROWS = 10_000, 4  # length of the very first run; factor from one first run to the next
TURNS = 8  # least operations per hart in a run whose halves can be compared
DRIFT = 3  # the mean difference of the halves of runs must be below this many standard errors
APART = 2  # time between the starts of two harts, in operations
# If an operation has more than this share of the cold misses in a run half as long, the program
# always has cold misses.
MAX_COLD_LEFT = 0.95
MAX_WARM_PART = 0.1  # cold misses as a share of all lines fetched, below which caches count as warm
# Operations and fetched lines per thread in all runs, from which on no runs follow.
DEAR_OPS, DEAR_LINES = 600, 1200
# Until its runs are steady and warm, a search with fewer threads may cost as much as one with this
# many.
MIN_BUDGET_THREADS = 64
PACE = "pace"  # the probe that a search needs


class Plan:
    """The plan of a job whose points are known beforehand."""

    probes: Probes = frozenset()  # probes that the plan needs

    def __init__(self, job: Job) -> None:
        self.job = job
        self.kept = [*job.points()]
        self._asked = False

    def asks(self) -> list[Job]:
        asked, self._asked = [] if self._asked else self.kept, True
        return asked

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        """Ignores an outcome: a fixed plan does not react to it."""

    def ended(self) -> tuple[Job, list[Estimate]]:
        return self.job, []


class Search(Plan):
    """The plan of a job that states the width of the interval of its rates."""

    probes = frozenset({PACE})

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._counts = {threads: _Count(job, threads) for threads in job.threads}

    def asks(self) -> list[Job]:
        return [point for count in self._counts.values() for point in count.asks()]

    @property
    def points(self) -> list[Point]:
        """Returns the finished runs of the present lengths."""
        return [point for count in self._counts.values() for point in count.points]

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        self._counts[point.threads].take(point, msgspec.convert(observed[PACE], Pace))

    def ended(self) -> tuple[Job, list[Estimate]]:
        return self._ended

    @cached_property
    def _ended(self) -> tuple[Job, list[Estimate]]:
        """Computed once, so that all callers get the same machine object, by which observations are
        found.
        """
        counts = self._counts.values()
        seeds = _seeds(self.job, max(count.runs for count in counts))
        lengths = tuple(count.length for count in counts)
        estimated = [count.estimated() for count in counts if count.complete]
        job = replace(self.job, within=0, seeds=seeds, lengths=lengths)
        self.kept = [*job.points()]
        return job, estimated


def _seeds(job: Job, runs: int) -> tuple[int, ...]:
    """Returns `runs` seeds: those of the job, then the numbers after them."""
    behind = max(job.seeds) + 1
    return (*job.seeds, *range(behind, behind + runs))[:runs]


def plan(job: Job) -> Plan:
    return Search(job) if job.within else Plan(job)


def _fetched(point: Point) -> int:
    """Returns the number of lines fetched; 0 if the engine does not count them."""
    return sum((point.transfers or {}).values())


@dataclass
class _Count:
    """The search at one thread count."""

    job: Job
    threads: int
    operations: int = 0  # number in all runs, in the result or not
    fetched: int = 0  # number of lines in all runs
    _asked: int = 0  # number of runs of this length asked for so far
    _times: int = 1  # present length, in multiples of the first
    _shorter_rate: float | None = None  # the rate of a run half as long
    _shorter_cold: float | None = None  # the cold misses per operation of that run
    _chosen: int = 0  # number of times that a length was chosen
    _points: dict[int, Point] = field(default_factory=dict)  # finished runs, by seed
    _paces: dict[int, Pace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.length = self._timed(BRIEF_NS)

    def _timed(self, duration: int) -> Length:
        """Returns the length of a single run of `duration` ns, after a warm-up as long, in which
        harts start.
        """
        start = min(self.job.chance.start, 1000 * duration // self.threads)
        return Length(self.threads, 0, 1, start, duration, duration)

    @property
    def runs(self) -> int:
        return self.length.runs

    @property
    def complete(self) -> bool:
        return len(self._points) == self.runs

    def asks(self) -> list[Job]:
        """Returns the next runs, given those that have ended; none if a program failed."""
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
        """Decides whether runs of this length suffice, and how many are needed."""
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
        """Returns the length of runs that follows from the one run made: from the time of an
        operation, and the number of lines that it fetches.
        """
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
        """Returns True if operations find most lines in their caches; then many operations cost
        little.
        """
        fetched = sum(map(_fetched, self._points.values()))
        return fetched < FEW_FETCHED * self._ops

    @property
    def _unready(self) -> bool:
        """Returns True if the runs show that the steady state comes later, and longer runs are
        allowed.
        """
        if not self._may_double:
            return False
        if (self._times < UNSTEADY and self._short) or (self._times < LONGEST and self._cold):
            return not self._costs_as(max(self.threads, MIN_BUDGET_THREADS))
        return self._times < LONGEST and self._moves and not self._dear

    @property
    def _cold(self) -> bool:
        """Returns True if operations still fetch lines that memory has not sent before, and fewer
        than in a run half as long. Some programs always fetch such lines.
        """
        lines, misses = sum(map(_fetched, self._points.values())), self._cold_misses
        if misses <= MAX_WARM_PART * max(1, lines / max(1, self._ops)):
            return False
        return self._shorter_cold is None or misses < MAX_COLD_LEFT * self._shorter_cold

    @property
    def _ops(self) -> int:
        return sum(point.ops for point in self._points.values())

    @property
    def _cold_misses(self) -> float:
        """Returns the cold misses per operation."""
        return sum(pace.cold_misses for pace in self._paces.values()) / max(1, self._ops)

    @property
    def _moves(self) -> bool:
        """Returns True if a run half as long had another rate, or if operations fetch few lines and
        there was no such run: rare events (a grace period, a scan) may begin after so short a
        warm-up.
        """
        fetched = sum(map(_fetched, self._points.values()))
        if self.runs > 1 or not self._hits or fetched < self.threads:
            return False
        if self._shorter_rate is None:
            return True
        return abs(self._ordered()[0] / self._shorter_rate - 1) > self.job.within / 1e6 / BIAS

    @property
    def _longer_wanted(self) -> bool:
        """Returns True if the length chosen from a run is more than the run had. The first run is
        slower than later ones, because its threads read the clock more often.
        """
        if self.runs > 1 or self._times > 1:
            return False
        return not self._chosen or self._choice.ops > NEARLY * self.length.ops

    @property
    def _dear(self) -> bool:
        """Returns True if the runs so far have used the search's budget."""
        return self._costs_as(self.threads)

    def _costs_as(self, threads: int) -> bool:
        """Returns True if the runs so far have used the budget of a search with `threads`
        threads.
        """
        return self.operations >= DEAR_OPS * threads and self.fetched >= DEAR_LINES * threads

    @property
    def _few_asked(self) -> bool:
        """Returns True if the job has too few seeds for an interval. Then it has only the runs of
        its seeds.
        """
        return len(self.job.seeds) < RUNS[0]

    @property
    def _first_runs(self) -> int:
        """Returns the number of runs at first: at least as many as the job has seeds."""
        if self._few_asked:
            return len(self.job.seeds)
        return max(RUNS[0 if self._hits else 1], min(len(self.job.seeds), RUNS[-1]))

    def _more(self) -> None:
        more = next(runs for runs in RUNS if runs > self.runs or runs == RUNS[-1])
        first = self._first_runs
        self.length = self.length._replace(runs=first if self.runs < first else more)

    @property
    def _may_double(self) -> bool:
        """Returns True if a run twice as long is still within the limits."""
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
        """Returns the longest first run, in ns, by which the time of an operation should be
        known.
        """
        return LONGEST * max(BRIEF_NS, 2 * self.job.chance.start * self.threads // 1000)

    def _narrow(self, further: int = 0) -> bool:
        rates = self._ordered()
        low, high = interval(rates, further)
        return (high - low) / 2 <= self.job.within / 1e6 * median_low(rates)

    @property
    def _drifts(self) -> bool:
        """Returns True if the steady states still become faster or slower, by more than the width
        asked.
        """
        halves = [halves_apart(pace) for pace in self._paces.values()]
        mean = abs(fmean(halves))
        surely = mean > DRIFT * stdev(halves) / len(halves) ** 0.5
        return surely and mean > self.job.within / 1e6

    @property
    def _wanted(self) -> int:
        """Returns the factor by which runs should be longer; more than LONGEST if that does not
        help.

        Runs of a lock differ by the order of threads, which does not change within a run, so more
        runs come first. Longer ones help if the halves of a run, in which each hart had its turns,
        differ as much as runs do.
        """
        rates, paces = self._ordered(), self._paces.values()
        in_a_run = fmean(halves_apart(pace) ** 2 for pace in paces) / 4
        turns = min(point.ops for point in self._points.values()) / self.threads
        alike = 2 * in_a_run * fmean(rates) ** 2 < pvariance(rates)
        return LONGEST + 1 if turns < TURNS or alike or self.runs < RUNS[-1] else 2

    @property
    def _short(self) -> bool:
        """Returns True if most runs have little steady state."""
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
        """Returns the rates in the order of seeds."""
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
