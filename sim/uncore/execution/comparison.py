"""Runs a changed job as often and as long as its comparison with the unchanged job needs.

    Comparison(job, unchanged, within)      the plan (enough.Plan) of a changed job
    Comparison(..., length=length)          the same, if the change may make the program much faster

Runs with equal seeds and lengths draw the same random numbers. So rates are compared seed by seed,
and a few runs suffice (the method of common random numbers):

* The first run of a change that does not concern the program equals the unchanged run. Then no
  other run follows.
* Further runs follow, up to the next number in RUN_COUNTS, until the interval of the ratios of
  rates is narrow, or the unchanged job had no more runs. A small effect needs all of them, unless
  ratios vary much less than rates: if a change alters the order of requests, the chance of the
  unchanged runs remains in the ratios, and in those of all changes alike.
* A program that gets much faster does many more operations in the same time. So `length` is tried
  out by a run of 1/TRIAL_DIVISOR of it. If that has at least MIN_SPEEDUP times the rate of the
  unchanged run, the other runs are so much shorter that they do as many operations as that.

Invariant: every choice is a function of the job and of the unchanged points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from uncore.execution.enough import RUN_COUNTS, Plan
from uncore.job import Job
from uncore.job.job import Length
from uncore.result.repeats import rate
from uncore.result.schema import Point
from uncore.support.steady import interval

TRIAL_DIVISOR, MIN_SPEEDUP = 8, 2
# An interval of ratios is narrow if its half is at most 1/WIDTH_DIVISOR of what the user allows for
# the rate of the unchanged job.
WIDTH_DIVISOR = 2
# Requests keep their order if the deviation of ratios is at most this part of the rates' deviation.
# The ratios of three pairs of independent runs would be so alike in one case of two hundred.
MAX_RATIO_DEVIATION = 0.1


class Comparison(Plan):
    """The plan of a changed job, which has the seeds and the length of the unchanged one.

    `unchanged` has the points of the unchanged job, and `within` the width allowed for their rate,
    in millionths.
    """

    def __init__(
        self, job: Job, unchanged: Sequence[Point], within: int, length: Length | None = None
    ) -> None:
        super().__init__(replace(job, seeds=()))
        self.kept = []
        self._seeds = job.seeds
        self._unchanged = {point.seed: point for point in unchanged}
        self._within = within
        self._length = length  # None once it has been tried out
        self._points: dict[int, Point] = {}

    def next_points(self) -> list[Job]:
        """Returns the next runs, given those that have finished; none if a program failed."""
        if self._length and not self._requested:
            self._requested = True
            trial = self.job.adding(_shortened(self._length, TRIAL_DIVISOR).parameters)
            return [trial.at(trial.threads[0], self._seeds[0])]
        if self._length or len(self._points) < len(self.kept):
            return []
        self.job = replace(self.job, seeds=self._seeds[: self._runs_needed])
        self.kept, known = [*self.job.points()], len(self.kept)
        return self.kept[known:]

    def add_outcome(self, point: Point, observed: Mapping[str, Any]) -> None:
        """Adds a point, or chooses the length after the trial."""
        assert isinstance(point.seed, int)
        if self._length:
            speedup = self._ratio(point)
            if speedup >= MIN_SPEEDUP:
                self.job = self.job.adding(_shortened(self._length, speedup).parameters)
            self._length = None
        else:
            self._points[point.seed] = point

    @property
    def equals_unchanged(self) -> bool:
        """Returns True if all runs so far equal those of the unchanged job."""
        return all(point == self._unchanged[seed] for seed, point in self._points.items())

    @property
    def _runs_needed(self) -> int:
        """Returns the number of runs that suffices, as far as is known."""
        runs = len(self._points)
        if runs and (self.equals_unchanged or (runs > 1 and self._is_decided)):
            return runs
        return next((count for count in (1, *RUN_COUNTS) if count > runs), runs)

    @property
    def _is_decided(self) -> bool:
        """Returns True if no further runs are needed."""
        ratios = [*map(self._ratio, self._points.values())]
        low, high = interval(ratios)
        middle, allowed = (low + high) / 2, self._within / 1e6
        if (high - low) / 2 > allowed / WIDTH_DIVISOR * middle:
            return False
        rates = [*map(rate, self._unchanged.values())]
        is_same_order = stdev(ratios) < MAX_RATIO_DEVIATION * stdev(rates) / fmean(rates)
        return low <= 1 <= high or abs(middle - 1) > allowed or is_same_order

    def _ratio(self, point: Point) -> float:
        return rate(point) / (rate(self._unchanged[point.seed]) or 1)


def _shortened(length: Length, divisor: float) -> Length:
    """Returns the length divided by `divisor`. All harts still start during the warm-up."""
    last_start_ns = length.start * length.threads // 1000
    warm_up_ns = max(0, length.warmup - last_start_ns)
    return length._replace(
        duration=max(1, round(length.duration / divisor)),
        warmup=last_start_ns + round(warm_up_ns / divisor),
    )
