"""The runs of a design, seed by seed, until it is certain that the design is not on the front.

    runs_of(job, goes_on)   the runs of a workload, in rounds while `goes_on()`: a Turns, or a
                            SearchedTurns where the job says how narrow its rate is to be
    Turns                   runs of a known length: first as many as bound their median, then one a
                            round
    SearchedTurns           runs whose lengths are searched
    median(rates, runs)     the interval of the median of `runs` runs, of which some have been made

Nothing is estimated. The median of three runs is between the first two, whatever the third one
gives. So a design whose better end is worse than another design remains worse. With an even number
of runs, the slower of the two in the middle is the median (result/repeats.py). Invariant: the runs
asked for depend on the points that have ended, not on their order.
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


class Turns(Plan):
    def __init__(self, job: Job, goes_on: Callable[[], bool]) -> None:
        super().__init__(job)
        self._goes_on = goes_on
        self._runs, self._made = self.kept, 0
        self.points: list[Point] = []

    def asks(self) -> list[Job]:
        """Returns the next runs; none if a run is missing (its program failed) or the design is
        dropped.
        """
        if len(self.points) < self._made or (self._made and not self._goes_on()):
            return []
        asked = self._runs[self._made : max(self._made, _middle(len(self._runs))) + 1]
        self._made += len(asked)
        return asked

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        self.points.append(point)

    def span(self, figure: Callable[[Point], float]) -> Span:
        """Returns the interval of the median run's figure, if runs are ranked by it."""
        return median([figure(point) for point in self.points], len(self._runs))

    @property
    def whole(self) -> bool:
        return self._made == len(self._runs)

    @property
    def repeatable(self) -> Job:
        """Returns the job of the runs that were made; running it repeats them."""
        return replace(self.job, seeds=self.job.seeds[: self._made])

    def ended(self) -> tuple[Job, list[Estimate]]:
        self.kept = self._runs[: self._made]
        return self.repeatable, []


class SearchedTurns(Search):
    """Runs whose lengths are searched. Nothing bounds the median before the search has ended,
    because longer runs may follow.
    """

    def __init__(self, job: Job, goes_on: Callable[[], bool]) -> None:
        super().__init__(job)
        self._goes_on = goes_on
        self.whole = False

    def asks(self) -> list[Job]:
        if self.points and not self._goes_on():
            return []
        asked = super().asks()
        self.whole = not asked
        return asked

    @property
    def repeatable(self) -> Job:
        """Returns the job with the search; running it makes the same runs."""
        return self.job

    def span(self, figure: Callable[[Point], float]) -> Span:
        rates = [figure(point) for point in self.points]
        return median(rates, len(rates)) if self.whole else (0.0, inf)


def runs_of(job: Job, goes_on: Callable[[], bool]) -> Turns | SearchedTurns:
    return SearchedTurns(job, goes_on) if job.within else Turns(job, goes_on)


def median(rates: Sequence[float], runs: int) -> Span:
    ordered, middle, left = sorted(rates), _middle(runs), runs - len(rates)
    low = ordered[middle - left] if middle >= left else 0.0
    return low, ordered[middle] if middle < len(ordered) else inf


def _middle(runs: int) -> int:
    return (runs - 1) // 2
