"""One job on several engines: what must agree, what should, what differs for a known reason.

    crosscheck(job, engines, done) -> [Crossed]     one for each thread count

*Must*: that the program's own checks hold, and how many operations each thread did.  *Should*: how
often lines were asked for and taken away, to an order of magnitude.  The time of an operation may
differ; why it does is told by the engine (`DIFFERS` of its module).

Invariant: the first engine is what the others are compared with.
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

MAGNITUDE_RATIO = 10  # results whose ratio is larger, either way, differ in order of magnitude
COUNTED = ("transactions", "invalidations")  # per operation


@dataclass(frozen=True)
class Side:
    """One engine's result for a point, and the time that it took on this computer."""

    engine: str
    point: Point
    seconds: float

    @property
    def per_operation(self) -> float | None:
        """ps of simulated time that one operation of a thread took."""
        ops = self.point.ops
        return self.point.elapsed_ps * self.point.threads / ops if ops else None

    def rate(self, field: str) -> float | None:
        """A count per operation; None where the engine cannot know."""
        count: int | None = getattr(self.point, field)
        return None if count is None or not self.point.ops else count / self.point.ops


@dataclass(frozen=True)
class Crossed:
    """A point on all engines."""

    threads: int
    sides: tuple[Side, ...]

    def broken(self) -> list[str]:
        """Sentences on everything in which the engines had to agree and do not."""
        first, *others = self.sides
        words = [f"{side.engine}: {why}" for side in self.sides for why in side.point.failures]
        return words + [
            f"{side.engine} did {side.point.ops} operations, {first.engine} {first.point.ops}"
            for side in others
            if side.point.thread_ops != first.point.thread_ops
        ]

    def apart(self) -> list[str]:
        """Counts that are of different orders of magnitude, in words."""
        first, *others = self.sides
        words = []
        for field in COUNTED:
            here = first.rate(field)
            for side in others:
                there = side.rate(field)
                if here and there and abs(math.log(there / here)) > math.log(MAGNITUDE_RATIO):
                    words.append(
                        f"{field} per operation: {first.engine} {here:.3g},"
                        f" {side.engine} {there:.3g}"
                    )
        return words

    def ratio(self, side: Side) -> float | None:
        """Its time per operation over the first engine's."""
        first, this = self.sides[0].per_operation, side.per_operation
        return this / first if first and this is not None else None


def crosscheck(
    job: Job,
    engines: Sequence[str],
    done: Callable[[], None] = lambda: None,
    engine_options: EngineOptions = NO_OPTIONS,
) -> list[Crossed]:
    """The job on each engine, one point after the other, so that host seconds compare."""
    for name in engines:
        engine.usable(name, engine_options=engine_options)
    crossed = []
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
        crossed.append(Crossed(threads, tuple(sides)))
    return crossed


def reasons(engines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Why an engine's times differ from the model's, by engine."""
    simulators = ((name, engine.other_simulator(name)) for name in engines)
    return {name: simulator.DIFFERS for name, simulator in simulators if simulator}
