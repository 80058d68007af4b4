"""Measured curves of will-it-scale, and the jobs that simulate them.

    machines_with_figures() -> [name]     the machines that have curves
    curves_of(machine) -> ScalingFigures  all curves of a machine
    series(machines) -> [Series]          each curve, with the skeleton that simulates its
                                          benchmark
    series.jobs(work) -> [Job]            the whole curve, with `work` private instructions
                                          in each call

Tasks that contend for locks run with seeds.  A queued lock has two steady states, with and without
a queue, and in lockstep it would never change from one to the other.

The length of a run depends on its curve: each task makes many calls and, if tasks contend for
locks, the run lasts many times the longest back-off of a waiting task.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from uncore import topology
from uncore.errors import UserError
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.topology.machine import Machine
from uncore_lab.figures import SCALING
from uncore_lab.figures.simulate import MATRIX_SEEDS

SKELETONS = "skeletons"
THREADS_SUFFIX = "-threads"  # suffix of a key whose tasks are threads of one process
MIN_SINGLE_TASK_S = 20e-6  # shortest run; long compared with the barrier that starts all tasks
MIN_CALLS_PER_TASK = 20
# If tasks contend for locks, a waiting task backs off for longer and longer times, while the others
# make many calls. So a run lasts at least this many calls and this many of the longest back-offs.
MIN_CALLS_AT_LOCKS, MIN_BACK_OFFS = 1000, 20
MAX_BACK_OFF_S = 100e-6  # longest back-off of a waiting task
MAX_BACK_OFF_PAUSES = 32678  # FreeBSD's longest back-off on 64 processors and more
CONTENDED_BELOW_GAIN = 3  # a series is contended if all cores are less than this factor faster

ParameterValues = Mapping[str, str | int]


class Steps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    series: int
    ratios: list[float]


class ScalingFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One machine's file; the keys are explained in uncore_lab/figures/README.md."""

    name: str
    quality: str  # quality of the measurement: A (best), A-, B or C
    source: str
    tasks: list[int]
    cores: int
    clocks: dict[str, dict[str, str]]
    steps: Steps
    millions: dict[str, dict[str, list[float]]]

    def clock(self, system: str, tasks: int) -> str:
        bins = {int(min_tasks): clock for min_tasks, clock in self.clocks[system].items()}
        return bins[max(min_tasks for min_tasks in bins if min_tasks <= tasks)]


@dataclass(frozen=True)
class Skeleton:
    """A workload that stands for one benchmark on one system."""

    workload: str
    counted: float  # operations of the benchmark for one operation of the skeleton
    values: ParameterValues
    # names of parameters, and of defaults, that were chosen to fit the curves
    fitted: Sequence[str]


@dataclass(frozen=True)
class Series:
    """A measured curve, and the skeleton that simulates it."""

    machine: str
    benchmark: str
    kind: str  # system, such as "fbsd11", or "fbsd11-threads" for threads of one process
    measured: ScalingFigures
    skeleton: Skeleton

    @property
    def system(self) -> str:
        return self.kind.removesuffix(THREADS_SUFFIX)

    @property
    def rates(self) -> list[float]:
        """Operations per second at each number of tasks in the file."""
        return [1e6 * million for million in self.measured.millions[self.benchmark][self.kind]]

    @property
    def calls(self) -> int:
        """Number of calls of each task."""
        return max(
            MIN_CALLS_PER_TASK, math.ceil(MIN_SINGLE_TASK_S * self.rates[0] / self.skeleton.counted)
        )

    @property
    def is_contended(self) -> bool:
        return (
            self.rates[self.measured.tasks.index(self.measured.cores)]
            < CONTENDED_BELOW_GAIN * self.rates[0]
        )

    def length(self, pause: float) -> dict[str, str]:
        """Returns the parameters that set the length of a run. `pause` is the time of a pause in
        seconds.
        """
        alone = self.skeleton.counted / self.rates[0]  # time in s of a call if there is one task
        if not self.is_contended:
            absence = max(MIN_SINGLE_TASK_S, MIN_CALLS_PER_TASK * alone) / MIN_BACK_OFFS
            return {"ops": str(self.calls), "lock_delay": str(round(absence / pause))}
        pauses = min(MAX_BACK_OFF_PAUSES, round(MAX_BACK_OFF_S / pause))
        run_time = max(MIN_CALLS_AT_LOCKS * alone, MIN_BACK_OFFS * pauses * pause)
        return {"duration": f"{round(1e9 * run_time)}ns", "lock_delay": str(pauses)}

    def job(self, tasks: Sequence[int], work: int) -> Job:
        """Makes the job for several numbers of tasks that have the same clock."""
        clock = {"core.clock": self.measured.clock(self.system, tasks[0])}
        pause = 1e-12 * _machine(self.machine, clock["core.clock"]).core.pause
        return make_job(
            self.machine,
            self.skeleton.workload,
            tasks,
            parameters=self.length(pause)
            | {"work": str(work)}
            | {name: str(value) for name, value in self.skeleton.values.items()},
            overrides=clock,
            seeds=MATRIX_SEEDS if self.is_contended else (),
        )

    def jobs(self, work: int) -> list[Job]:
        """Makes the jobs of the whole curve, one for each clock."""
        at_clock: dict[str, list[int]] = {}
        for tasks in self.measured.tasks:
            at_clock.setdefault(self.measured.clock(self.system, tasks), []).append(tasks)
        return [self.job(tasks, work) for tasks in at_clock.values()]


@functools.cache
def _machine(name: str, clock: str) -> Machine:
    return topology.load(name, [f"core.clock={clock}"])


def machines_with_figures() -> list[str]:
    """Returns the machines with measured curves."""
    return sorted(path.stem for path in SCALING.glob("*.toml") if path.stem != SKELETONS)


def series(machines: Sequence[str] = ()) -> list[Series]:
    """Returns every measured curve of these machines, or of all machines if none is named."""
    skeletons = _skeletons()
    return [
        Series(name, benchmark, kind, measured, _skeleton_of(skeletons, name, benchmark, kind))
        for name in machines or machines_with_figures()
        for measured in [curves_of(name)]
        for benchmark, kinds in measured.millions.items()
        for kind in kinds
    ]


def _skeleton_of(
    skeletons: dict[tuple[str, str], Skeleton], machine: str, benchmark: str, kind: str
) -> Skeleton:
    try:
        return skeletons[benchmark, kind]
    except KeyError:
        raise UserError(
            f"{SCALING / machine}.toml: a curve of {benchmark}, {kind}, but no skeleton stands for "
            f"it: write a table [{benchmark}] with the key {kind} in {SCALING / SKELETONS}.toml"
        ) from None


def curves_of(machine: str) -> ScalingFigures:
    path = SCALING / f"{machine}.toml"
    try:
        return msgspec.convert(tomllib.loads(path.read_text()), ScalingFigures)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: no curves of a machine: {error}") from None


def _skeletons() -> dict[tuple[str, str], Skeleton]:
    document = tomllib.loads((SCALING / f"{SKELETONS}.toml").read_text())
    return {
        (benchmark, kind): Skeleton(
            entry["workload"], entry.get("counted", 1), values, entry.get("fitted", ())
        )
        for benchmark, entry in document.items()
        if benchmark != "systems"
        for kind, values in entry.items()
        if isinstance(values, dict)
    }
