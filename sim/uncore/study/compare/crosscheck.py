"""Runs one job on several engines and compares their results.

    crosscheck(job, engines, done) -> [CrosscheckedPoint]     one for each thread count

The program's own checks *must* hold, and each thread's number of operations *must* agree. Requests
and invalidations per operation *should* agree to an order of magnitude. The time of an operation
may differ; the module of the engine states why (`DIFFERENCES`). Invariant: all engines are compared
with the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from uncore import engine
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.execution.execute import execute
from uncore.result.schema import Point

if TYPE_CHECKING:
    from uncore.job import Job

MAGNITUDE_RATIO = 10  # a larger ratio (or its inverse) is a difference in order of magnitude
COMPARED_COUNTS = ("transactions", "invalidations")  # fields of Point, compared per operation


@dataclass(frozen=True)
class Side:
    """One engine's result for a point, and the seconds that it took on this computer."""

    engine: str
    point: Point
    seconds: float

    @property
    def per_operation(self) -> float | None:
        """Returns the simulated time, in ps, that one operation of a thread took."""
        ops = self.point.ops
        return self.point.elapsed_ps * self.point.threads / ops if ops else None

    def rate(self, field: str) -> float | None:
        """Returns a count of the Point divided by its operations; None if the engine does not know
        it.
        """
        count: int | None = getattr(self.point, field)
        return None if count is None or not self.point.ops else count / self.point.ops


@dataclass(frozen=True)
class CrosscheckedPoint:
    """One point of a job on all engines."""

    threads: int
    sides: tuple[Side, ...]

    def broken(self) -> list[str]:
        """Returns sentences on each failed check and on each difference in the number of
        operations.
        """
        first, *others = self.sides
        words = [f"{side.engine}: {why}" for side in self.sides for why in side.point.failures]
        return words + [
            f"{side.engine} did {side.point.ops} operations, {first.engine} {first.point.ops}"
            for side in others
            if side.point.thread_ops != first.point.thread_ops
        ]

    def large_differences(self) -> list[str]:
        """Returns sentences on counts that differ by more than an order of magnitude."""
        first, *others = self.sides
        words = []
        for field in COMPARED_COUNTS:
            first_rate = first.rate(field)
            for side in others:
                side_rate = side.rate(field)
                if (
                    first_rate
                    and side_rate
                    and abs(math.log(side_rate / first_rate)) > math.log(MAGNITUDE_RATIO)
                ):
                    words.append(
                        f"{field} per operation: {first.engine} {first_rate:.3g},"
                        f" {side.engine} {side_rate:.3g}"
                    )
        return words

    def ratio(self, side: Side) -> float | None:
        """Returns the time per operation of this engine over that of the first engine."""
        first_ps, side_ps = self.sides[0].per_operation, side.per_operation
        return side_ps / first_ps if first_ps and side_ps is not None else None


def crosscheck(
    job: Job,
    engines: Sequence[str],
    done: Callable[[], None] = lambda: None,
    engine_options: EngineOptions = NO_OPTIONS,
) -> list[CrosscheckedPoint]:
    """Runs the job on each engine, one run at a time, so that host times can be compared."""
    for name in engines:
        engine.usable(name, engine_options=engine_options)
    compared_points = []
    for threads in job.threads:
        sides = []
        for name in engines:
            result = execute(
                [replace(job, engine=name).at(threads, job.seed)], engine_options=engine_options
            )[0]
            if not result.outcome.points:
                raise KeyboardInterrupt
            sides.append(Side(name, result.outcome.points[0], result.host.seconds[0]))
            done()
        compared_points.append(CrosscheckedPoint(threads, tuple(sides)))
    return compared_points


def reasons(engines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns for each engine the reasons why its times differ from those of the model."""
    simulators = ((name, engine.other_simulator(name)) for name in engines)
    return {name: simulator.DIFFERENCES for name, simulator in simulators if simulator}
