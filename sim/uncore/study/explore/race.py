"""Runs a design seed by seed, until it is certain that the design is not on the front.

    runs_of(job, may_continue)    the runs of a workload; they are made in rounds while
                                  `may_continue()` is true
    SeedBySeedRuns                runs of a known length: in the first round as many as bound their
                                  median, then one in each round
    SearchedRuns                  runs whose lengths are searched (`--within`)
    median(rates, runs)           the interval that contains the median of `runs` runs, of which
                                  some are finished

Nothing is estimated. For example, the median of three runs is between the first two, whatever the
third one gives. So if the better end of a design's interval is worse than another design, it stays
worse. With an even number of runs, the slower of the two in the middle is the median
(result/repeats.py). Invariant: the next runs depend on which points have finished, not on their
order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from uncore.execution.enough import Plan, Search
from uncore.job import Job
from uncore.result import Point
from uncore.result.schema import Estimate
from uncore.study.explore.formula import Span


class SeedBySeedRuns(Plan):
    def __init__(self, job: Job, may_continue: Callable[[], bool]) -> None:
        super().__init__(job)
        self._may_continue = may_continue
        self._runs, self._made_count = self.kept, 0
        self.points: list[Point] = []

    def next_points(self) -> list[Job]:
        """Returns the next runs; none if the program failed in a run or the design is dropped."""
        if len(self.points) < self._made_count or (self._made_count and not self._may_continue()):
            return []
        end = max(self._made_count, _median_index(len(self._runs))) + 1
        next_runs = self._runs[self._made_count : end]
        self._made_count += len(next_runs)
        return next_runs

    def add_outcome(self, point: Point, observed: Mapping[str, Any]) -> None:
        self.points.append(point)

    def span(self, figure: Callable[[Point], float]) -> Span:
        """Returns an interval that contains the median of this figure over all runs."""
        return median([figure(point) for point in self.points], len(self._runs))

    @property
    def is_complete(self) -> bool:
        return self._made_count == len(self._runs)

    @property
    def job_made(self) -> Job:
        """Returns the job of the runs that were made; running it repeats them."""
        return replace(self.job, seeds=self.job.seeds[: self._made_count])

    def job_and_estimates(self) -> tuple[Job, list[Estimate]]:
        self.kept = self._runs[: self._made_count]
        return self.job_made, []


class SearchedRuns(Search):
    """Runs whose lengths are searched. The median has no bounds until the search has ended, because
    longer runs may follow.
    """

    def __init__(self, job: Job, may_continue: Callable[[], bool]) -> None:
        super().__init__(job)
        self._may_continue = may_continue
        self.is_complete = False

    def next_points(self) -> list[Job]:
        if self.points and not self._may_continue():
            return []
        next_runs = super().next_points()
        self.is_complete = not next_runs
        return next_runs

    @property
    def job_made(self) -> Job:
        """Returns the job with the search; running it makes the same runs."""
        return self.job

    def span(self, figure: Callable[[Point], float]) -> Span:
        rates = [figure(point) for point in self.points]
        return median(rates, len(rates)) if self.is_complete else (0.0, inf)


def runs_of(job: Job, may_continue: Callable[[], bool]) -> SeedBySeedRuns | SearchedRuns:
    return SearchedRuns(job, may_continue) if job.within else SeedBySeedRuns(job, may_continue)


def median(rates: Sequence[float], runs: int) -> Span:
    ordered, middle, missing = sorted(rates), _median_index(runs), runs - len(rates)
    low = ordered[middle - missing] if middle >= missing else 0.0
    return low, ordered[middle] if middle < len(ordered) else inf


def _median_index(runs: int) -> int:
    return (runs - 1) // 2
