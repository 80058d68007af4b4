"""The runs of a design, seed by seed: it is given up once it certainly is no answer.

    runs_of(job, goes_on)   the runs of a workload, in rounds while `goes_on()`: a Turns, or a
                            SearchedTurns where the job says how narrow its rate is to be
    Turns                   runs of a known length: first as many as bound their median, then one a
                            round
    SearchedTurns           runs whose lengths are searched
    median(rates, runs)     where the median of so many runs lies, when some have been made

Nothing is estimated.  Of three runs the median lies between the first two, whatever the third one
gives; so a design whose better end is worse than another one stays so.  Of `runs` the slower of two
in the middle is the median (result/repeats.py).
Invariant: what is asked follows from the points that have ended, not from their order.
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
        """Empty once a run is missing (its program went wrong) or the design is given up."""
        if len(self.points) < self._made or (self._made and not self._goes_on()):
            return []
        asked = self._runs[self._made : max(self._made, _middle(len(self._runs))) + 1]
        self._made += len(asked)
        return asked

    def take(self, point: Point, observed: Mapping[str, Any]) -> None:
        self.points.append(point)

    def span(self, figure: Callable[[Point], float]) -> Span:
        """Interval of the median run's figure, if runs are ranked by it."""
        return median([figure(point) for point in self.points], len(self._runs))

    @property
    def whole(self) -> bool:
        return self._made == len(self._runs)

    @property
    def repeatable(self) -> Job:
        """The job of the runs that were made: asked for, it gives them again."""
        return replace(self.job, seeds=self.job.seeds[: self._made])

    def ended(self) -> tuple[Job, list[Estimate]]:
        self.kept = self._runs[: self._made]
        return self.repeatable, []


class SearchedTurns(Search):
    """Nothing bounds the median before the search has ended, since longer runs may follow."""

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
        """The job that searches: asked for, it makes the same runs."""
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
