"""The core-to-core matrix: guest runs measure every pair of harts.

Interface: `measure(machine, ipi, ...)` -> Matrix; `show`, `write_csv`, `panel` are its reports;
`tournament(machine, workload, harts)` -> the job of its runs, which validation uses, too.
The pairs of up to 64 harts are a single run, those of more are several, which cores share: each
begins on a machine at rest, so the figures do not depend on the number of cores.
The latency of a pair is one way: half a round trip of the CAS ping-pong, or the time from sending
an interprocessor interrupt to its handler.  Row = from, column = to: the
harts in tree order, without SMT the first hart of each core; or a sample of them, whose pairs are
all played.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from uncore.drawing import plot
from uncore.drawing.formats import EMPTY
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit
from uncore.engine import NO_OPTIONS, EngineOptions, refuse_slow
from uncore.errors import Unfinished, UserError
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.request import make_job
from uncore.execution.saved_points import Store
from uncore.job import Job
from uncore.result import Point, Result
from uncore.result.frame import Framed
from uncore.support import plugins
from uncore.support.output_files import write_whole
from uncore.support.printable import plain_json
from uncore.topology.distance import boundaries, classes, distance, sample
from uncore.topology.machine import Machine

Table = Sequence[Sequence[int]]
Sample = tuple[int, int]  # how many harts, and which draw of so many

LINE, IPI = "one-way latency", "one-way IPI latency"
UNLIMITED = {"max_time": "none"}  # a large matrix ends, but takes longer than the usual limit
PAIRS_OF_A_RUN = 2016  # those of 64 harts
WORKLOADS = {False: "latency/pingpong", True: "ipi/pingpong"}


@dataclass(frozen=True, repr=False)
class Matrix(Framed):
    """Latencies in ns between harts; 0 on the diagonal, nan where not measured."""

    machine: Machine
    harts: tuple[int, ...]  # of the rows and columns, in tree order
    what: str
    ns: list[list[float]]
    results: list[Result]  # of its runs
    stopped: BaseException | None = None  # what ended it early

    def __repr__(self) -> str:
        return f"<{self.what} on {self.machine.id}, {len(self.harts)} harts>"

    @property
    def failed(self) -> bool:
        """Whether a check of the guest failed."""
        return any(result.failed for result in self.results)

    def to_rows(self) -> list[dict[str, Any]]:
        """One row per pair of harts."""
        return [
            {"from": a, "to": b, "class": distance(self.machine, a, b), "ns": value}
            for a, row in zip(self.harts, self.ns, strict=True)
            for b, value in zip(self.harts, row, strict=True)
            if a != b
        ]

    def _dimensions(self) -> list[str]:
        return ["from", "to"]

    def by_class(self) -> list[dict[str, Any]]:
        """One row per distance class that occurs, nearest first, with the measured median."""
        measured = plugins.measured(self.machine) if self.what == LINE else {}
        latencies: dict[str, list[float]] = {}
        for a, row in enumerate(self.ns):
            for b, value in enumerate(row):
                if a != b and not math.isnan(value):
                    latencies.setdefault(
                        distance(self.machine, self.harts[a], self.harts[b]), []
                    ).append(value)
        return [
            {
                "machine": self.machine.id,
                "class": name,
                "pairs": len(values),
                "min_ns": min(values),
                "median_ns": round(statistics.median(values), 2),
                "max_ns": max(values),
                "measured_ns": measured.get(name),
            }
            for name in classes(self.machine)
            if (values := latencies.get(name))
        ]


def tournament(
    machine: str | Machine, workload: str, harts: Sequence[int] = (), **options: Any
) -> Job:
    """The job that plays every pair of `harts`, by default all; other harts sleep."""
    # `siblings` is tree order: thread t is hart t, or without SMT the first hart of core t.
    placement = ",".join(map(str, harts)) or "siblings"
    threads = (len(harts),) if harts else "max"
    return make_job(machine, workload, threads, placement=placement, **options)


def measure(
    machine: str,
    *,
    ipi: bool,
    overrides: Mapping[str, str],
    smt: bool,
    slow: bool = False,
    only: Sample | None = None,
    engine_options: EngineOptions = NO_OPTIONS,
    store: Store | None = None,
    resume: bool = False,
    workers: Workers = 1,
    **policies: Any,
) -> Matrix:
    """Runs the ping-pong over all pairs of harts, or those of the sample `only`."""
    job = tournament(machine, WORKLOADS[ipi], overrides=overrides, slow=True, smt=smt, **policies)
    if only:
        players = sample(job.machine, job.harts, *only)
        job = replace(job, threads=(len(players),), placement=",".join(map(str, players)))
    if not slow:
        refuse_slow(job)
    played = _play(_parts(job), engine_options, store, resume, workers)
    ns = _latencies(played.tables)
    stopped = played.ends[0] if played.ends else None
    if stopped and not measured_pairs(ns):
        raise stopped
    if not ns:
        raise UserError(f"{WORKLOADS[ipi]} published no table on engine '{job.engine}'")
    what = IPI if ipi else LINE
    return Matrix(job.machine, job.harts, what, ns, played.results, stopped)


def _parts(job: Job) -> list[Job]:
    harts = job.threads[0]
    parts = max(1, round(harts * (harts - 1) / 2 / PAIRS_OF_A_RUN))
    if parts == 1:
        return [job]
    return [job.given({"parts": parts, "part": part}) for part in range(parts)]


@dataclass(frozen=True)
class _Played:
    results: list[Result]
    ends: list[BaseException]  # of the runs that ended early

    @property
    def tables(self) -> list[Table]:
        """The table that each run has published, even a run that ended early."""
        points = [point for result in self.results for point in result.points]
        published = [point.tables for point in points] + [Unfinished.of(end) for end in self.ends]
        return [next(iter(tables.values())) for tables in published if tables]


def _play(
    jobs: Sequence[Job],
    engine_options: EngineOptions,
    store: Store | None,
    resume: bool,
    workers: Workers,
) -> _Played:
    rounds = jobs[0].program.parameter("rounds").default
    harts = jobs[0].threads[0]
    ends: list[BaseException] = []
    with progress(harts * (harts - 1) * rounds, "measuring", "round trips") as advance:
        played = seen = 0

        def done(job: Job, point: Point) -> None:
            nonlocal played
            played += point.ops
            tick(0, 0)

        def tick(operations: int, reached: int, under_way: int = 1) -> None:
            nonlocal seen
            advance(max(0, played + operations - seen))
            seen = max(seen, played + operations)

        results = execute(
            jobs,
            workers,
            done,
            lambda _, error: ends.append(error),
            tick=tick,
            engine_options={**UNLIMITED, **engine_options},
            interrupted=ends.append,
            store=store,
            resume=resume,
        )
    return _Played(results, ends)


def _latencies(tables: Sequence[Table]) -> list[list[float]]:
    """Merges the runs' tables, ps to ns; a 0 is a pair that this run did not measure."""
    rows = [[max(cells) for cells in zip(*row, strict=True)] for row in zip(*tables, strict=True)]
    return [
        [value / 1000 if value or a == b else math.nan for b, value in enumerate(row)]
        for a, row in enumerate(rows)
    ]


def measured_pairs(ns: Sequence[Sequence[float]]) -> int:
    """Number of pairs measured; the two directions count as two."""
    return sum(not math.isnan(v) for a, row in enumerate(ns) for b, v in enumerate(row) if a != b)


def show(matrix: Matrix, as_json: bool) -> None:
    """Classes as a table, and the matrix itself where it fits a screen."""
    rows = matrix.by_class()
    if as_json:
        document = {
            "machine": matrix.machine.id,
            "unit": "ns",
            "harts": matrix.harts,
            "classes": rows,
            "ns": matrix.ns,
        }
        print(plain_json(msgspec.json.encode(document).decode()))
        return
    if len(matrix.ns) <= 16:
        _show_pairs(matrix)
    emit(
        rows,
        False,
        COLUMNS,
        f"{matrix.machine.name}: {matrix.what} by distance, {len(matrix.ns)} harts",
    )


COLUMNS = [
    Column("within one", "class", left=True, about="the innermost level that holds both harts"),
    Column("pairs", "pairs", about="how many pairs of harts are so far apart"),
    Column("min ns", "min_ns", "{:.1f}".format, about="one way, the nearest of them"),
    Column("median ns", "median_ns", "{:.1f}".format, about="one way, half of them"),
    Column("max ns", "max_ns", "{:.1f}".format, about="one way, the farthest of them"),
    Column(
        "measured ns",
        "measured_ns",
        lambda v: f"{v:.1f}" if v else EMPTY,
        about="median of the real machine's pairs, where it is known",
    ),
]


def _show_pairs(matrix: Matrix) -> None:
    harts = [str(hart) for hart in matrix.harts]
    rows = [
        {"hart": a, **dict(zip(harts, row, strict=True))}
        for a, row in zip(harts, matrix.ns, strict=True)
    ]
    columns = [Column(hart, hart, lambda v: f"{v:.1f}" if v > 0 else "") for hart in harts]
    title = f"{matrix.machine.name}: {matrix.what}, ns"
    emit(rows, False, [Column("hart", "hart"), *columns], title)


def write_csv(matrix: Matrix, path: Path) -> None:
    """The matrix in ns: row = from, column = to; empty where not measured."""
    lines = [",".join("" if math.isnan(v) else f"{v:.3f}" for v in row) for row in matrix.ns]
    write_whole(path, "\n".join(lines) + "\n")


def panel(matrix: Matrix) -> plot.Panel:
    """The heat map."""
    title = f"{matrix.machine.name}: {matrix.what}"
    return plot.heat_map(matrix.ns, boundaries(matrix.machine, matrix.harts), title, "ns")


def comparison(matrix: Matrix) -> plot.Panel:
    """Bars per distance class: simulated, and measured where figures are carried."""
    groups = {
        row["class"]: {"simulated": row["median_ns"]}
        | ({"measured": row["measured_ns"]} if row["measured_ns"] else {})
        for row in matrix.by_class()
    }
    return plot.bars(groups, f"{matrix.machine.name}: {matrix.what}, median", "ns")
