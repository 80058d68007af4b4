"""Compares the throughput of one contended line by number of threads, simulated and measured.

    run(request) -> Section      curves(machine) -> [ContentionPoint]

The measured loops are counter/contended: `add`, `cas` and, with separate bars, two locks around a
plain count (`pure spin` and `ticket spin` of travisdowns/concurrency-hierarchy-bench, without pause
or backoff).  Only a machine's `hold`, `grants` and choice of near or far atomics were fitted to
these figures, to the points at 1 and 2 threads and one full socket; every other point is a
prediction.  Nobody recorded which slice owned the line, and contending harts fall into a rhythm
that depends on their distances.  So a point is the mean over several owner slices, and also over
several sets of cores if the cores were not recorded.
"""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from uncore import result, topology
from uncore.drawing.table import Column, Row
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore_lab.figures import CONTENTION
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar, Value
from uncore_lab.validate.curves import Drawing, pictures
from uncore_lab.validate.section import Request, Section

CONTENTION_MEDIAN_BAR = Bar("predicted points: median error", 15, 15, "%")
CONTENTION_WORST_BAR = Bar("predicted points: worst error", 35, 35, "%")
LOCKS_MEDIAN_BAR = Bar("spin and ticket locks: median error", 11, 25, "%")
RATE_RANGE_8176 = 0.5, 0.9  # bounds on the 8176's rate with all threads over that of one socket
# simulated time of a run, by the largest thread count to which it applies
RUN_TIME_BY_THREADS_US = {32: 50, 128: 100, 1024: 400}
LOCK_RUN_TIME_FACTOR = 4  # a waiting thread of a lock lets many others go first
MAX_OWNER_SLICES = 4  # slices tried as the line's owner

# workload, parameters, and True for a lock, by kind of point. No point of a lock was used in a fit,
# and locks have a separate bar.
KINDS: dict[str, tuple[str, dict[str, str], bool]] = {
    "add": ("counter/contended", {"by": "add"}, False),
    "cas": ("counter/contended", {"by": "cas"}, False),
    "spin": ("counter/contended", {"by": "spin", "batch": "5"}, True),
    "ticket": ("counter/contended", {"by": "ticket", "batch": "5"}, True),
}

DRAWING = Drawing(
    pictures=(),
    panel="machine",
    line="operation",
    x="threads",
    simulated="simulated",
    measured="measured",
    heads=("threads", "millions of operations a second"),
)
PROSE = (
    "Every thread does one thing on one line as fast as it can: fetch-and-add, or load and"
    " compare-and-swap until it succeeds; millions of operations a second, all threads together."
    " Only `hold` (how long a core goes on beginning operations on a line it has won), `grants`"
    " (how long a cluster goes on serving its own) and near or far atomics were chosen for a"
    " machine, by the points marked *fit*; all others are predicted. A point is the mean over"
    " slices that may own the line, and over sets of cores where it is not known which took part."
    " Fairness is the fewest operations of a thread over the most. The locks (`spin`: test and"
    " test-and-set without backoff; `ticket`) guard a plain count on a line of its own; who waits"
    " reads without pause. They have a bound of their own."
)


class ContentionFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One machine's file; the keys are explained in uncore_lab/figures/README.md."""

    quality: str  # quality of the measurement: A (best), A-, B or C
    source: str
    note: str
    fitted: list[int]
    threads: list[int]
    millions: dict[str, list[float]]
    placement: str = "compact"
    sets: list[int] = []  # first core of each set of cores to try, if they were not recorded

    def places(self, threads: int) -> list[str]:
        """Returns the sets of cores on which the threads may have been measured."""
        lists = [",".join(map(str, range(first, first + threads))) for first in self.sets]
        return lists or [self.placement]


@dataclass(frozen=True)
class ContentionPoint:
    """A point of a curve: one number of threads."""

    machine: str
    kind: str
    threads: int
    measured: float
    simulated: float
    fairness: float
    fitted: bool

    @property
    def error(self) -> float:
        return 100 * (self.simulated / self.measured - 1)

    @property
    def is_lock(self) -> bool:
        return KINDS[self.kind][2]

    @property
    def is_judged(self) -> bool:
        return not (self.is_lock or self.fitted)

    def row(self) -> Row:
        return {
            "machine": self.machine,
            "operation": self.kind,
            "threads": self.threads,
            "measured": self.measured,
            "simulated": round(self.simulated, 2),
            "error_pct": round(self.error, 2),
            "fairness": round(self.fairness, 2),
            "point": "fit" if self.fitted else "predicted",
        }


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("operation", "operation", left=True, key=True),
    Column("threads", "threads", key=True),
    Column("measured M/s", "measured"),
    Column("simulated M/s", "simulated"),
    Column("error %", "error_pct", lambda v: f"{v:+.1f}"),
    Column("fairness", "fairness"),
    Column("point", "point", left=True),
]


def run(request: Request) -> Section:
    names = request.chosen(machines_with_figures(), "no contention was measured on")
    points = [point for name in names for point in curves(name, request.cores)]
    return Section(
        name="contention",
        title="One contended line: simulated against measured throughput",
        prose=PROSE,
        columns=COLUMNS,
        rows=[point.row() for point in points],
        bars=_bar_values(points),
        broken=_too_steep(points),
        notes=_curve_notes(points),
        pictures=pictures("contention", table(points).rows, DRAWING) if request.pictures else (),
        tables=[table(points)],
    )


def table(points: Sequence[ContentionPoint]) -> Table:
    return Table(
        "contention", ("machine", "operation", "threads"), [point.row() for point in points]
    )


def _bar_values(points: Sequence[ContentionPoint]) -> list[Value]:
    judged = [abs(point.error) for point in points if point.is_judged]
    locks = [abs(point.error) for point in points if point.is_lock]
    values = [(LOCKS_MEDIAN_BAR, statistics.median(locks))] if locks else []
    if judged:
        values += [
            (CONTENTION_MEDIAN_BAR, statistics.median(judged)),
            (CONTENTION_WORST_BAR, max(judged)),
        ]
    return values


def curves(machine: str, cores: int = 1) -> list[ContentionPoint]:
    """Simulates all points of one machine."""
    measured = read(machine)
    spots = [(kind, threads) for kind in measured.millions for threads in measured.threads]
    jobs = [job for kind, threads in spots for job in _jobs(machine, measured, kind, threads)]
    results = execute(jobs, cores)
    jobs_per_point = len(jobs) // len(spots)
    return [
        _point(
            machine,
            measured,
            kind,
            threads,
            results[index * jobs_per_point : (index + 1) * jobs_per_point],
        )
        for index, (kind, threads) in enumerate(spots)
    ]


def point(machine: str, measured: ContentionFigures, kind: str, threads: int) -> ContentionPoint:
    """Simulates one point of a machine."""
    return _point(
        machine, measured, kind, threads, [*execute(_jobs(machine, measured, kind, threads))]
    )


def _jobs(machine: str, measured: ContentionFigures, kind: str, threads: int) -> list[Job]:
    workload, parameters, lock = KINDS[kind]
    run_time_us = next(
        us for max_threads, us in RUN_TIME_BY_THREADS_US.items() if threads <= max_threads
    )
    duration = f"{run_time_us * (LOCK_RUN_TIME_FACTOR if lock else 1)}us"
    return [
        make_job(machine, workload, [threads], parameters={"duration": duration} | parameters,
                 placement=place, slices=slice)
        for place in measured.places(threads)
        for slice in _slices_to_try(machine)
    ]  # fmt: skip


def _slices_to_try(machine: str) -> list[str]:
    """Returns at most MAX_OWNER_SLICES slices, evenly spread, to try as the line's owner."""
    slice_count = max(len(resolver.slices) for resolver in topology.load(machine).resolvers)
    return [
        str((2 * part + 1) * slice_count // (2 * MAX_OWNER_SLICES))
        for part in range(MAX_OWNER_SLICES)
    ]


def _point(
    machine: str,
    measured: ContentionFigures,
    kind: str,
    threads: int,
    results: Sequence[result.Result],
) -> ContentionPoint:
    points = [run.points[0] for run in results]
    return ContentionPoint(
        machine,
        kind,
        threads,
        measured.millions[kind][measured.threads.index(threads)],
        statistics.mean((point.throughput or 0) / 1e6 for point in points),
        min(
            _fairness(points[first : first + MAX_OWNER_SLICES])
            for first in range(0, len(points), MAX_OWNER_SLICES)
        ),
        threads in measured.fitted and not KINDS[kind][2],
    )


def _fairness(points: Sequence[result.Point]) -> float:
    """Returns the fairness of one placement: the smallest number of operations of a thread divided
    by the largest. A thread's operations are summed over all owner slices.
    """
    threads: list[int] = [
        sum(ops) for ops in zip(*(point.thread_ops for point in points), strict=True)
    ]
    return min(threads) / max(threads)


def machines_with_figures() -> list[str]:
    return sorted(path.stem for path in CONTENTION.glob("*.toml"))


def read(machine: str) -> ContentionFigures:
    path: Path = CONTENTION / f"{machine}.toml"
    try:
        return msgspec.convert(tomllib.loads(path.read_text()), ContentionFigures)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: no figures of contention: {error}") from None


def _too_steep(points: Sequence[ContentionPoint]) -> list[str]:
    """Returns a sentence if the 8176's `add` rate with all threads is out of its range. The
    measured rate decreases slowly beyond one socket, to 0.63 of that socket's rate.
    """
    rates = {p.threads: p.simulated for p in points if p.machine == "x8176x8" and p.kind == "add"}
    if not rates:
        return []
    ratio = rates[420] / rates[28]
    if RATE_RANGE_8176[0] <= ratio <= RATE_RANGE_8176[1]:
        return []
    low, high = RATE_RANGE_8176
    return [f"x8176x8: 420 threads add at {ratio:.2f} of a socket's rate, not {low} to {high}"]


def _curve_notes(points: Sequence[ContentionPoint]) -> list[str]:
    lines = []
    for curve in dict.fromkeys((p.machine, p.kind) for p in points):
        errors = [abs(p.error) for p in points if (p.machine, p.kind) == curve and not p.fitted]
        if errors:
            median, worst = statistics.median(errors), max(errors)
            name = " ".join(curve)
            lines.append(
                f"{name}: {len(errors)} points, median {median:.1f} %, worst {worst:.1f} %"
            )
    return lines
