"""Chooses the lengths and the number of runs, so that the interval of their rate is as narrow as
the user asks (`--within`; rule W4).

A plan decides which points of its job run next:

    next_points()                   the points of the next round; [] when the plan has ended
    add_outcome(point, observed)    adds the outcome of one of these points
    job_and_estimates()             the job whose points are in the result (`kept`), and the rates
    deferred                        observers that cost much, without which these points run

A Plan runs a fixed list of points. A Search works at each thread count as follows.

* Runs have a fixed duration instead of a number of operations. All threads start during a warm-up,
  so that all of them work during the whole measured time.
* A first run of fixed length measures how long an operation takes.
* Threads start at intervals of two operations' time, or of the machine's `chance.start` if that is
  less (V3). So chance decides the order in which they arrive at a lock, which may remain the same
  for the whole run.
* A thread reads the clock for the first time after its share of the operations, because reading the
  clock takes as long as a short operation.
* If little of a run is steady, or rates still rise or fall within the steady state, the length is
  doubled. It is also doubled while caches are cold, that is, while operations fetch lines that
  memory has not sent before. If operations fetch few lines, it is doubled until a run twice as long
  has the same rate.
* If the interval of the median rate is too wide, but would be narrow enough without the outermost
  rates, more runs follow, up to the next number in RUN_COUNTS; otherwise runs are made longer.
* The reported interval has at least a share of the requested width (MIN_WIDTH_SHARE), even if runs
  agree better, because all runs share a remaining effect of the warm-up.
* If the longest runs still have cold misses, the rate may change once more by as much as from runs
  half as long, which had twice as many; the reported interval contains these rates.

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

from uncore.engine import Observers
from uncore.job import Job
from uncore.job.job import Length
from uncore.result.repeats import Repeats, rate
from uncore.result.schema import Estimate, Point
from uncore.support.steady import Pace, difference_of_halves, interval

# numbers of runs of one length, in the order in which they are tried
RUN_COUNTS = (3, 6, 9, 17)
# A reported interval has at least this share of the requested width, for one thread and for
# several, whose order may remain the same for a run. With half for all, 87 % of the intervals of 16
# threads and 79 % of those of 64 held the rate of runs 50 times as long, and now 90 and 87 %
# (validation/results/intervals.csv).
MIN_WIDTH_SHARE, MIN_WIDTH_SHARE_OF_SEVERAL = 0.5, 0.75
# The rate of a run twice as long may differ by 1/RATE_CHANGE_DIVISOR of the requested width.
RATE_CHANGE_DIVISOR = 4
# minimum numbers of operations that a run measures, for all threads together and for each thread
MIN_MEASURED_OPS, MIN_MEASURED_OPS_PER_THREAD = 128, 2
# A run of this length, including its warm-up, ends before --max-time and --watchdog stop it.
MAX_MEASURED_NS = 150_000_000
MIN_LINES_FETCHED_PER_THREAD = 96  # for runs whose operations fetch lines
MIN_CACHE_HIT_RUN_NS = 20_000  # minimum length of a run whose operations mostly hit in the caches
FEW_LINES_PER_OP = 0.5  # if an operation fetches fewer lines, operations mostly hit in the caches
WARM_UP_OPS_PER_THREAD = 2  # operations of the warm-up after all threads have started
WARM_UP_OPS_DIVISOR = 4  # the warm-up has at least 1/WARM_UP_OPS_DIVISOR of the operations measured
MAX_LENGTH_CHOICES = 3  # maximum number of times that a length is chosen from the earlier runs
MIN_LENGTH_GROWTH = 1.5  # a chosen length must exceed the last run's by this factor
# Factors by which the longest runs may exceed the first length: usually, for runs of which only a
# small part is steady, and for runs without a steady state.
MAX_LENGTH_FACTOR, MAX_FACTOR_IF_PARTLY_STEADY, MAX_FACTOR_IF_UNSTEADY = 16, 4, 64
# The steady state must have at least 1/STEADY_SHARE_DIVISOR of the length of its run.
STEADY_SHARE_DIVISOR = 3
FIRST_RUN_NS, FIRST_RUN_GROWTH = 10_000, 4  # length of the first run; factor to each next length
MIN_OPS_PER_HART = 8  # minimum number of operations in a run whose halves are compared
# The mean difference of the halves of runs counts as a drift if it exceeds this many standard
# errors.
MAX_DRIFT_STANDARD_ERRORS = 3
START_SPACING_OPS = 2  # time between the starts of two harts, in operations
# If the cold misses of an operation are more than this share of those in a run half as long, the
# program always has cold misses.
MAX_COLD_MISS_RATIO = 0.95
MAX_COLD_MISS_SHARE = 0.1  # Caches count as warm if cold misses are at most this share of fetches.
# budget of a search: the operations and the fetched lines of all its runs, per thread
BUDGET_OPS_PER_THREAD, BUDGET_LINES_PER_THREAD = 600, 1200
# Until its runs are steady and warm, a search with fewer threads has the budget of this number of
# threads.
MIN_BUDGET_THREADS = 64
PACE_OBSERVER = "pace"  # the observer that a search needs
# Observers that take longer than a short run. A search observes only one run of each thread count.
COSTLY_OBSERVERS: Observers = frozenset({"lines"})


class Plan:
    """The plan of a job whose points are known beforehand."""

    observers: Observers = frozenset()  # observers that the plan needs
    deferred: Observers = frozenset()  # observers that its next points do without

    def __init__(self, job: Job) -> None:
        self.job = job
        self.kept = [*job.points()]
        self._requested = False

    def next_points(self) -> list[Job]:
        """Returns all points at the first call, then none."""
        points, self._requested = [] if self._requested else self.kept, True
        return points

    def add_outcome(self, point: Point, observed: Mapping[str, Any]) -> None:
        """Ignores the outcome, because the points of this plan are fixed."""

    def job_and_estimates(self) -> tuple[Job, list[Estimate]]:
        """Returns the job of the result, and the rates that a search has estimated."""
        return self.job, []


class Search(Plan):
    """The plan of a job that asks for an interval of its rate. It searches the lengths and the
    number of runs.
    """

    observers = frozenset({PACE_OBSERVER})

    def __init__(self, job: Job, deferred: Observers = frozenset()) -> None:
        super().__init__(job)
        self.deferred = deferred
        self._counts = {threads: _CountSearch(job, threads) for threads in job.threads}
        self._is_over = False

    def next_points(self) -> list[Job]:
        """Returns the points of the next round. After the search, these are the median runs once
        more, if observers were deferred.
        """
        points = [point for count in self._counts.values() for point in count.next_points()]
        if not points and self.deferred:
            self._is_over, self.deferred = True, frozenset()
            return [count.median_point for count in self._counts.values() if count.complete]
        return points

    @property
    def points(self) -> list[Point]:
        """Returns the finished runs of the present lengths."""
        return [point for count in self._counts.values() for point in count.points]

    def add_outcome(self, point: Point, observed: Mapping[str, Any]) -> None:
        if not self._is_over:
            self._counts[point.threads].add_outcome(
                point, msgspec.convert(observed[PACE_OBSERVER], Pace)
            )

    def job_and_estimates(self) -> tuple[Job, list[Estimate]]:
        return self._job_and_estimates

    @cached_property
    def _job_and_estimates(self) -> tuple[Job, list[Estimate]]:
        """Computes the job once, so that all callers get the same machine object, by which
        observations are found.
        """
        counts = self._counts.values()
        seeds = _seeds(self.job, max(count.runs for count in counts))
        lengths = tuple(count.length for count in counts)
        estimated = [count.estimated() for count in counts if count.complete]
        job = replace(self.job, within=0, seeds=seeds, lengths=lengths)
        self.kept = [*job.points()]
        return job, estimated


def _seeds(job: Job, runs: int) -> tuple[int, ...]:
    """Returns `runs` seeds: those of the job, then the numbers after the largest of them."""
    next_seed = max(job.seeds) + 1
    return (*job.seeds, *range(next_seed, next_seed + runs))[:runs]


def plan(job: Job, observers: Observers = frozenset()) -> Plan:
    """Returns the plan of a job whose runs are observed by `observers`."""
    return Search(job, observers & COSTLY_OBSERVERS) if job.within else Plan(job)


def _fetched_lines(point: Point) -> int:
    """Returns the number of lines fetched; 0 if the engine does not count them."""
    return sum((point.transfers or {}).values())


@dataclass
class _CountSearch:
    """The search at one thread count."""

    job: Job
    threads: int
    operations: int = 0  # operations of all runs, including those that are not in the result
    fetched: int = 0  # lines fetched in all runs
    _requested: int = 0  # number of runs of the present length that have been requested
    _length_factor: int = 1  # present length as a multiple of the first
    _shorter_rate: float | None = None  # the rate of a run half as long
    _shorter_cold: float | None = None  # the cold misses per operation of that run
    _choices_made: int = 0  # number of times that a length was chosen
    _points: dict[int, Point] = field(default_factory=dict)  # finished runs, by seed
    _paces: dict[int, Pace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.length = self._length_of_duration(FIRST_RUN_NS)

    def _length_of_duration(self, duration: int) -> Length:
        """Returns the length of a single run of `duration` ns; its warm-up, during which harts
        start, is as long.
        """
        start = min(self.job.chance.start, 1000 * duration // self.threads)
        return Length(self.threads, 0, 1, start, duration, duration)

    @property
    def runs(self) -> int:
        return self.length.runs

    @property
    def complete(self) -> bool:
        return len(self._points) == self.runs

    def next_points(self) -> list[Job]:
        """Returns the next runs, given those that have finished; none if a program failed."""
        if len(self._points) < self._requested:
            return []
        if self._requested:
            self._decide_next()
        seeds = _seeds(self.job, self.runs)[self._requested :]
        self._requested = self.runs
        return [self._point(seed) for seed in seeds]

    def _point(self, seed: int) -> Job:
        return replace(self.job, lengths=(self.length,)).at(self.threads, seed)

    @property
    def median_point(self) -> Job:
        """Returns the job of the run that represents the others (result.repeats)."""
        seed = Repeats(self.points).median.seed
        assert isinstance(seed, int)
        return self._point(seed)

    @property
    def points(self) -> list[Point]:
        return [*self._points.values()]

    def add_outcome(self, point: Point, pace: Pace) -> None:
        assert isinstance(point.seed, int)
        self.operations += point.ops
        self.fetched += _fetched_lines(point)
        self._points[point.seed] = point
        self._paces[point.seed] = pace

    def _decide_next(self) -> None:
        """Chooses the next step: more runs of this length, longer runs, or the end."""
        if (
            not self._choices_made
            and not self._all_reach_steady_state
            and self.length.duration < self._max_first_run_ns
        ):
            self._start_over(self._length_of_duration(FIRST_RUN_GROWTH * self.length.duration))
        elif self._choices_made < MAX_LENGTH_CHOICES and self._first_length_too_short:
            self._choices_made += 1
            self._start_over(self._chosen_length)
        elif self._needs_longer_runs:
            self._lengthen(2)
        elif self.runs < self._min_runs:
            self._add_runs()
        elif self._has_too_few_seeds:
            return
        elif (
            self._is_drifting
            and self._length_factor < MAX_LENGTH_FACTOR
            and self._may_double
            and not self._budget_is_spent
        ):
            self._lengthen(2)
        elif not self._is_narrow() and not self._budget_is_spent:
            longer = (
                self._may_double and self._length_factor * self._useful_factor <= MAX_LENGTH_FACTOR
            )
            if self.runs < RUN_COUNTS[-1] and (not longer or self._is_narrow(further_dropped=1)):
                self._add_runs()
            elif longer:
                self._lengthen(self._useful_factor)

    @property
    def _chosen_length(self) -> Length:
        """Returns the length that follows from the only run so far: from the time of an operation,
        and from the number of lines that an operation fetches.
        """
        (point,) = self._points.values()
        op_ps = 1e12 / (rate(point) or 1)
        start = min(self.job.chance.start, round(START_SPACING_OPS * op_ps))
        ops = max(MIN_MEASURED_OPS, MIN_MEASURED_OPS_PER_THREAD * self.threads)
        if self._mostly_hits:
            ops = max(ops, ceil(1000 * MIN_CACHE_HIT_RUN_NS / op_ps))
        else:
            ops_per_thread = (
                MIN_LINES_FETCHED_PER_THREAD * point.ops / max(1, _fetched_lines(point))
            )
            ops = max(ops, ceil(ops_per_thread * self.threads))
        ops = min(ops, ceil(1000 * MAX_MEASURED_NS / op_ps))
        last_start_ps = start * self.threads
        warmup = (
            last_start_ps
            + max(WARM_UP_OPS_PER_THREAD * self.threads, ops // WARM_UP_OPS_DIVISOR) * op_ps
        )
        unclocked = max(1, ops // self.threads)
        duration_ns, warmup_ns = (ceil(time / 1000) for time in (ops * op_ps, warmup))
        return Length(self.threads, unclocked, 1, start, duration_ns, warmup_ns)

    @property
    def _mostly_hits(self) -> bool:
        """Returns True if operations find most lines in their caches; such operations cost little
        host time.
        """
        fetched = sum(map(_fetched_lines, self._points.values()))
        return fetched < FEW_LINES_PER_OP * self._ops

    @property
    def _needs_longer_runs(self) -> bool:
        """Returns True if longer runs are needed for a steady state, and allowed."""
        if not self._may_double:
            return False
        factor = self._length_factor
        unsteady = factor < MAX_FACTOR_IF_UNSTEADY and self._lacks_steady_state
        if unsteady or (factor < MAX_LENGTH_FACTOR and self._has_cold_misses):
            return not self._cost_reaches_budget_of(max(self.threads, MIN_BUDGET_THREADS))
        may_be_longer = factor < MAX_LENGTH_FACTOR and not self._budget_is_spent
        return may_be_longer and self._rate_depends_on_length

    @property
    def _has_cold_misses(self) -> bool:
        """Returns True if operations still have cold misses, but fewer than in a run half as long.
        Some programs never stop having cold misses.
        """
        lines, misses = sum(map(_fetched_lines, self._points.values())), self._cold_misses
        if misses <= MAX_COLD_MISS_SHARE * max(1, lines / max(1, self._ops)):
            return False
        return self._shorter_cold is None or misses < MAX_COLD_MISS_RATIO * self._shorter_cold

    @property
    def _remaining_change(self) -> float:
        """Returns by how much the rate may still change, relative to it, because of cold misses."""
        if not self._shorter_rate or not self._has_cold_misses:
            return 0
        return abs(self._rates()[0] / self._shorter_rate - 1)

    @property
    def _ops(self) -> int:
        return sum(point.ops for point in self._points.values())

    @property
    def _cold_misses(self) -> float:
        """Returns the cold misses per operation."""
        return sum(pace.cold_misses for pace in self._paces.values()) / max(1, self._ops)

    @property
    def _rate_depends_on_length(self) -> bool:
        """Returns True if a run half as long had another rate, or if there has been no such run.

        Only runs that mostly hit in the caches are compared: their warm-up is so short that rare
        events (a grace period, a scan) may begin after it.
        """
        fetched = sum(map(_fetched_lines, self._points.values()))
        if self.runs > 1 or not self._mostly_hits or fetched < self.threads:
            return False
        if self._shorter_rate is None:
            return True
        return (
            abs(self._rates()[0] / self._shorter_rate - 1)
            > self.job.within / 1e6 / RATE_CHANGE_DIVISOR
        )

    @property
    def _first_length_too_short(self) -> bool:
        """Returns True if the length computed from the last run is clearly longer than that run.
        The first run is slower than later ones, because its threads read the clock more often.
        """
        if self.runs > 1 or self._length_factor > 1:
            return False
        return (
            not self._choices_made or self._chosen_length.ops > MIN_LENGTH_GROWTH * self.length.ops
        )

    @property
    def _budget_is_spent(self) -> bool:
        """Returns True if the runs so far have used the search's budget."""
        return self._cost_reaches_budget_of(self.threads)

    def _cost_reaches_budget_of(self, threads: int) -> bool:
        """Returns True if the runs so far have used the budget of a search with `threads`
        threads.
        """
        return (
            self.operations >= BUDGET_OPS_PER_THREAD * threads
            and self.fetched >= BUDGET_LINES_PER_THREAD * threads
        )

    @property
    def _has_too_few_seeds(self) -> bool:
        """Returns True if the job has too few seeds for an interval. Then each seed gets one run,
        and no more runs follow.
        """
        return len(self.job.seeds) < RUN_COUNTS[0]

    @property
    def _min_runs(self) -> int:
        """Returns the number of runs to begin with: one for each of the job's seeds, but at least
        RUN_COUNTS[0] or RUN_COUNTS[1], and at most RUN_COUNTS[-1]. With too few seeds for an
        interval, each seed has one run.
        """
        if self._has_too_few_seeds:
            return len(self.job.seeds)
        return max(
            RUN_COUNTS[0 if self._mostly_hits else 1], min(len(self.job.seeds), RUN_COUNTS[-1])
        )

    def _add_runs(self) -> None:
        more = next(runs for runs in RUN_COUNTS if runs > self.runs or runs == RUN_COUNTS[-1])
        first = self._min_runs
        self.length = self.length._replace(runs=first if self.runs < first else more)

    @property
    def _may_double(self) -> bool:
        """Returns True if a run twice as long is still within the limits."""
        return 2 * self.length.duration <= MAX_MEASURED_NS

    def _lengthen(self, times: int) -> None:
        self._length_factor *= times
        self._shorter_rate, self._shorter_cold = self._rates()[0], self._cold_misses
        length = self.length
        longer = {"ops": times * length.ops, "duration": times * length.duration}
        self._start_over(length._replace(**longer, warmup=times * length.warmup, runs=1))

    def _start_over(self, length: Length) -> None:
        self.length, self._requested = length, 0
        self._points, self._paces = {}, {}

    @property
    def _max_first_run_ns(self) -> int:
        """Returns the length in ns up to which the first run may grow."""
        return MAX_LENGTH_FACTOR * max(
            FIRST_RUN_NS, 2 * self.job.chance.start * self.threads // 1000
        )

    def _is_narrow(self, further_dropped: int = 0) -> bool:
        """Returns True if the interval is as narrow as requested after `further_dropped` more rates
        are dropped at either end.
        """
        rates = self._rates()
        low, high = interval(rates, further_dropped)
        return (high - low) / 2 <= self.job.within / 1e6 * median_low(rates)

    @property
    def _is_drifting(self) -> bool:
        """Returns True if rates still rise or fall within the steady states by more than the
        requested width.
        """
        differences = [difference_of_halves(pace) for pace in self._paces.values()]
        mean = abs(fmean(differences))
        surely = mean > MAX_DRIFT_STANDARD_ERRORS * stdev(differences) / len(differences) ** 0.5
        return surely and mean > self.job.within / 1e6

    @property
    def _useful_factor(self) -> int:
        """Returns the factor by which runs should be lengthened; it exceeds MAX_LENGTH_FACTOR if
        longer runs do not help.

        Runs of a lock differ by the order of threads, which does not change within a run; then
        only more runs help. Longer runs help if the halves of one run differ as much as different
        runs do.
        """
        rates, paces = self._rates(), self._paces.values()
        variance_within_runs = fmean(difference_of_halves(pace) ** 2 for pace in paces) / 4
        ops_per_hart = min(point.ops for point in self._points.values()) / self.threads
        differs_by_run_only = 2 * variance_within_runs * fmean(rates) ** 2 < pvariance(rates)
        return (
            MAX_LENGTH_FACTOR + 1
            if ops_per_hart < MIN_OPS_PER_HART or differs_by_run_only or self.runs < RUN_COUNTS[-1]
            else 2
        )

    @property
    def _lacks_steady_state(self) -> bool:
        """Returns True if a run has no steady state, or if most runs have a short one."""
        if not self._all_reach_steady_state:
            return True
        short = sum(map(self._mostly_unsteady, self._points.values()))
        return self._length_factor < MAX_FACTOR_IF_PARTLY_STEADY and 2 * short > self.runs

    def _mostly_unsteady(self, point: Point) -> bool:
        return point.measured[1] * STEADY_SHARE_DIVISOR < self.length.duration * 1000

    @property
    def _all_reach_steady_state(self) -> bool:
        return all(isinstance(point.steady, tuple) for point in self._points.values())

    def _rates(self) -> list[float]:
        """Returns the rates in the order of seeds."""
        return [rate(self._points[seed]) for seed in sorted(self._points)]

    def estimated(self) -> Estimate:
        rates = self._rates()
        median_rate = median_low(rates)
        low, high = interval(rates)
        min_share = MIN_WIDTH_SHARE if self.threads == 1 else MIN_WIDTH_SHARE_OF_SEVERAL
        deviation = max(self.job.within / 1e6 * min_share, self._remaining_change)
        mean_ops = fmean(point.ops for point in self._points.values())
        return Estimate(
            threads=self.threads,
            within=self.job.within,
            throughput=int(median_rate),
            low=None if self._has_too_few_seeds else round(min(low, median_rate * (1 - deviation))),
            high=None
            if self._has_too_few_seeds
            else round(max(high, median_rate * (1 + deviation))),
            ops=round(mean_ops / self.threads),
            operations=self.operations,
        )
