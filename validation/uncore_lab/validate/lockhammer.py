"""Measured curves of lockhammer, and the jobs that simulate them.

    machines_with_figures() -> [machine]            the machines that have curves
    read(machine) -> LockFigures      a machine's figures
    spot.measured -> Ns               measured median, p20 and p80 at one point of a curve
    spot.job() -> Job                 the job that simulates the point
    simulated(result) -> Ns           the simulated times in the result of this job

Each thread takes the lock, holds it, releases it and does other work, a fixed number of times, and
then stops.  A point is the elapsed time until the last thread has stopped, divided by the number of
operations of all threads.

The primitive `empty` is the harness without a lock, and has two uses.  At hold 0 and think 0 it
mostly shows the time to end and join threads, which is subtracted from both measured and simulated
times.  At other points it shows how long the loops for hold and think really took.  These loops
were calibrated on an otherwise idle core; they take up to 1.8 times as long next to a sibling that
runs the same loops.
"""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import msgspec

from uncore.errors import UserError
from uncore.execution.request import find_program, make_job, usual_seeds
from uncore.job import Job
from uncore.program import Program
from uncore.result import Result
from uncore.support import paths
from uncore_lab.figures import LOCKS
from uncore_lab.figures.simulate import MATRIX_SEEDS

HARNESS = "empty"
NO_PARAMETERS: Mapping[str, str] = {}

BARE_LOCK = {"guarded": "0"}  # only the lock's own line is shared

# Values from lockhammer's sources. A delay is up to 30,000 pauses, so a thread that has failed once
# sleeps for the time of hundreds of operations. Only a run of full length shows this effect.
EVENT_PARAMETERS = {"attempt": "swap", "delay": "600", "ops": "5000"}

# for each primitive: the workload that stands for it, its parameters, and True if `hold` excludes
# other threads
PRIMITIVES: dict[str, tuple[str, Mapping[str, str], bool]] = {
    "incdec_refcount": ("refcount/incdec", NO_PARAMETERS, False),
    "cas_lockref": ("refcount/lockref", NO_PARAMETERS, False),
    "ticket_spinlock": ("lock/ticket_packed", BARE_LOCK, True),
    "swap_mutex": ("lock/swap", BARE_LOCK, True),
    "queued_spinlock": ("lock/qspinlock", BARE_LOCK, True),
    "event_mutex": ("lock/event_mutex", BARE_LOCK | EVENT_PARAMETERS, True),
}
WORKLOADS = PRIMITIVES | {HARNESS: ("lock/empty", NO_PARAMETERS, False)}
# This program runs on Linux, because its waiters sleep; no bar includes its points. At hold 0 and
# think 0 its runs have as many operations as EVENT_PARAMETERS. Other settings, which are not shown,
# would take minutes, so they have a tenth of the operations.
SLEEPING, MONITOR = "jvm_objectmonitor", paths.WORKLOADS / "programs/lock/objectmonitor.c"
SLEEPING_OPS, SLEEPING_FEW = 5000, 500
BARE_SETTING = "0-0"
SETTINGS = ((0, 0), (200, 1000), (1000, 0), (1000, 5000))  # hold and think, ns

# approximate number of operations of all threads together, and the least number of each thread.
# Measured runs had 5000 for each thread. Twice as many change no conclusion
# (tests/bars/test_locks.py).
RUN_OPS, MIN_THREAD_OPS = 3000, 60
# The time of a bare lock depends mostly on the slice that owns its line. Each of the nine measured
# runs drew another slice (V10), so there are nine seeds.
BARE_SEEDS = usual_seeds("native", 9)
# Threads that spin at a barrier leave it as soon as they read its line; no operating system wakes
# them.
BARRIER_OVERRIDES = {"chance.start": "20ns"}


class Ns(NamedTuple):
    """The time of an operation in ns: median and range over repeated runs."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Returns high minus low as a percentage of the median."""
        return 100 * (self.high - self.low) / self.median

    def minus(self, amount: float) -> Ns:
        return Ns(*(ns - amount for ns in self))


class LockCurve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The time of an operation in ns; entry n - 1 of a list is the time with n threads."""

    median: list[float]
    p20: list[float]
    p80: list[float]

    def at(self, threads: int) -> Ns:
        return Ns(*(ns[threads - 1] for ns in (self.median, self.p20, self.p80)))


class LockFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One machine's file; the keys are explained in uncore_lab/figures/README.md."""

    quality: str  # quality of the measurement: A (best), A-, B or C
    source: str
    host: str  # name of the host in the source
    placement: str
    socket: int  # threads that the pin order puts on one socket
    ns: dict[str, dict[str, LockCurve]]

    def harness(self, setting: str, threads: int) -> float:
        return self.ns[HARNESS][setting].at(threads).median

    @property
    def max_threads(self) -> int:
        return len(self.ns[HARNESS][BARE_SETTING].median)

    def doubling(self) -> list[int]:
        """Returns the thread counts 1, 2, 4, ... and the largest thread count."""
        counts = [1 << power for power in range(self.max_threads.bit_length())]
        return list(dict.fromkeys([*counts, self.max_threads]))


@dataclass(frozen=True)
class Spot:
    """A point to simulate: one thread count on one curve of a machine."""

    machine: str
    primitive: str
    hold: int
    think: int
    threads: int

    @property
    def is_bare(self) -> bool:
        return not (self.hold or self.think)

    @property
    def is_sleeping(self) -> bool:
        return self.primitive == SLEEPING

    @property
    def is_exclusive(self) -> bool:
        return self.is_sleeping or WORKLOADS[self.primitive][2]

    @property
    def setting(self) -> str:
        return f"{self.hold}-{self.think}"

    @property
    def harness(self) -> Spot:
        return replace(self, primitive=HARNESS)

    @property
    def measured(self) -> Ns:
        figures = read(self.machine)
        ns = figures.ns[self.primitive][self.setting].at(self.threads)
        return ns.minus(figures.harness(BARE_SETTING, self.threads)) if self.is_bare else ns

    @property
    def time_parameters(self) -> dict[str, str]:
        """Returns parameters with which `think`, and a `hold` that excludes no other thread, take
        as long as they did in the measurement. The harness `empty` shows these times, because its
        threads do nothing else. The `hold` of a lock is not changed: while a lock is held, the
        sibling mostly waits and does not slow the core down.
        """
        figures, hold_and_think = read(self.machine), self.hold + self.think
        took = figures.harness(self.setting, self.threads) - figures.harness(
            BARE_SETTING, self.threads
        )
        longer = self.threads * took / hold_and_think if hold_and_think else 1
        hold = self.hold if self.is_exclusive else longer * self.hold
        return {"hold": f"{hold:.0f}ns", "think": f"{longer * self.think:.0f}ns", "spin": "time"}

    def error(self, simulated: float) -> float:
        """Returns the error in per cent of the time without the hold; inf if the measured time
        without the hold is not positive. The hold is subtracted only if it excludes other threads
        and think is 0.
        """
        held = self.hold if self.is_exclusive and not self.think else 0
        real = self.measured.median - held
        return 100 * ((simulated - held) / real - 1) if real > 0 else float("inf")

    @property
    def seeds(self) -> tuple[int, ...]:
        return BARE_SEEDS if self.is_bare and not self.is_sleeping else MATRIX_SEEDS

    def job(
        self,
        overrides: Mapping[str, str] = NO_PARAMETERS,
        ops: int = 0,
        seeds: tuple[int, ...] = (),
    ) -> Job:
        """Makes the job of a spot. `seeds` replaces the usual seeds."""
        common: Any = {"placement": read(self.machine).placement, "seeds": seeds or self.seeds}
        common["overrides"] = BARRIER_OVERRIDES | dict(overrides)
        if self.is_sleeping:
            ops_of_thread = ops or (SLEEPING_OPS if self.is_bare else SLEEPING_FEW)
            times = (self.time_parameters[name].removesuffix("ns") for name in ("hold", "think"))
            common["arguments"] = ("{threads}", str(ops_of_thread), *times)
            return make_job(self.machine, _monitor(), [self.threads], **common)
        workload, parameters, _ = WORKLOADS[self.primitive]
        ops_of_thread = ops or max(MIN_THREAD_OPS, RUN_OPS // self.threads)
        common["parameters"] = {"ops": str(ops_of_thread), **self.time_parameters, **parameters}
        return make_job(self.machine, workload, [self.threads], **common)


@cache
def _monitor() -> Program:
    """Finds or compiles the program of the sleeping lock, on first use only."""
    return find_program(MONITOR)


def simulated(result: Result) -> Ns:
    """Returns the time of an operation at one point: median, least and largest over its seeds."""
    times = sorted(point.elapsed_ps / 1000 / point.ops for point in result.points)
    return Ns(statistics.median(times), times[0], times[-1])


def machines_with_figures() -> list[str]:
    return sorted(path.stem for path in LOCKS.glob("*.toml"))


def spots(machine: str, threads: Sequence[int]) -> list[Spot]:
    return [
        Spot(machine, primitive, hold, think, n)
        for primitive in (*PRIMITIVES, SLEEPING)
        for hold, think in (SETTINGS if primitive != SLEEPING else SETTINGS[:1])
        for n in threads
    ]


@cache
def read(machine: str) -> LockFigures:
    path = LOCKS / f"{machine}.toml"
    try:
        return msgspec.convert(tomllib.loads(path.read_text()), LockFigures)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: no figures of locks: {error}") from None
