"""The core-to-core matrix: guest programs measure the latency of every pair of harts.

Interface: `measure(machine, ipi, ...)` -> Matrix; `show`, `write_csv` and `panel` report it;
`tournament(machine, workload, harts)` returns the job, which validation uses, too.

One run measures the pairs of up to 64 harts. For more harts the pairs are split into several runs,
which can use several cores. Each run starts on a machine at rest, so figures do not depend on the
number of cores.

Every pair is measured with each seed. Its figure is the mean. The spread of a distance class is the
range of the medians of single seeds. A seed also draws where the line is (V10): where that matters
there are more seeds, with fewer round trips each, so that the sum stays the same. Another sample of
harts would have other medians, too: the spread of a sampled matrix includes the range of the
medians of harts that are drawn anew from the sample (the bootstrap).

Latency is one way: half a round trip of the CAS ping-pong, or the time from sending an
interprocessor interrupt to its handler. Rows are senders (from), columns are receivers (to): all
harts in tree order (without SMT the first hart of each core), or a sample of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from uncore import topology
from uncore.drawing import plot
from uncore.drawing.formats import EMPTY, spread
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit, say
from uncore.engine import NO_OPTIONS, EngineOptions, refuse_slow
from uncore.errors import Unfinished, UserError
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.request import make_job
from uncore.execution.saved_points import Store
from uncore.job import Job, slice_is_drawn
from uncore.job.forms import REPEATS, SLICES_DRAWN
from uncore.result import Point, Result
from uncore.result.frame import Framed
from uncore.support import plugins
from uncore.support.output_files import write_whole
from uncore.support.printable import plain_json
from uncore.topology.distance import boundaries, classes, distance, sample
from uncore.topology.machine import Machine

Table = Sequence[Sequence[int]]
Ns = Sequence[Sequence[float]]
Sample = tuple[int, int]  # number of harts, and number of the random draw
# Chooses seeds; the argument is the usual number of them. An empty tuple: one run, in lockstep.
Seeds = Callable[[int], tuple[int, ...]]

LINE_LATENCY, IPI_LATENCY = "one-way latency", "one-way IPI latency"
NO_TIME_LIMIT = {
    "max_time": "none"
}  # large matrices take longer than the usual limit, but they end
MAX_PAIRS_PER_RUN = 2016  # the pairs of 64 harts
WORKLOADS = {False: "latency/pingpong", True: "ipi/pingpong"}
HARTS_REDRAWN = 200  # times that the harts of a sample are drawn anew from it


@dataclass(frozen=True)
class MeasuredHandoffs:
    """Handoff latencies that were measured on a real machine."""

    ns: Mapping[str, float]  # distance class -> median of one-way latency
    home: str  # home of the line, as in --home
    slices: str  # slice of the line, as in --slices; "hash": unknown


HandoffsOf = Callable[[Machine], MeasuredHandoffs | None]


@dataclass(frozen=True, repr=False)
class Matrix(Framed):
    """One-way latencies between harts in ns; 0 on the diagonal, nan for pairs that were not
    measured.
    """

    machine: Machine
    harts: tuple[int, ...]  # harts of the rows and columns, in tree order
    what: str
    ns: list[list[float]]  # means over the seeds
    results: list[Result]  # results of the guest runs
    measured: MeasuredHandoffs | None = None  # figures of the real machine; None: unknown
    # True if the measured line had the same home and slice as the line in these runs
    alike: bool = False
    sampled: bool = False  # True if its harts were drawn from all those of the machine
    stopped: BaseException | None = None  # exception that ended the runs early

    def __repr__(self) -> str:
        return f"<{self.what} on {self.machine.id}, {len(self.harts)} harts>"

    @property
    def failed(self) -> bool:
        """True if a check of the guest program failed."""
        return any(result.failed for result in self.results)

    def to_rows(self) -> list[dict[str, Any]]:
        """Returns one row per pair of harts."""
        return [
            {"from": a, "to": b, "class": distance(self.machine, a, b), "ns": value}
            for a, row in zip(self.harts, self.ns, strict=True)
            for b, value in zip(self.harts, row, strict=True)
            if a != b
        ]

    def _dimensions(self) -> list[str]:
        return ["from", "to"]

    def by_class(self) -> list[dict[str, Any]]:
        """Returns one row per distance class that occurs, nearest first, with the median of the
        real machine.
        """
        seeds = [self._medians(ns) for ns in self._of_seeds()]
        redrawn = self._ranges_of_redrawn_medians() if self.sampled else {}
        measured = self.measured.ns if self.measured and self.alike else {}
        return [
            {
                "machine": self.machine.id,
                "class": name,
                "pairs": len(values),
                "min_ns": min(values),
                "median_ns": round(statistics.median(values), 2),
                "apart_ns": _combined(
                    _range_of_medians([medians[name] for medians in seeds if name in medians]),
                    redrawn.get(name),
                ),
                "max_ns": max(values),
                "measured_ns": measured.get(name),
            }
            for name, values in self._classes(self.ns).items()
        ]

    def _classes(self, ns: Ns) -> dict[str, list[float]]:
        """Returns the latencies of each distance class that occurs, nearest first."""
        by_class: dict[str, list[float]] = {name: [] for name in classes(self.machine)}
        for a, row in zip(self.harts, ns, strict=True):
            for b, value in zip(self.harts, row, strict=True):
                if a != b and not math.isnan(value):
                    by_class[distance(self.machine, a, b)].append(value)
        return {name: values for name, values in by_class.items() if values}

    def _medians(self, ns: Ns) -> dict[str, float]:
        return {name: statistics.median(values) for name, values in self._classes(ns).items()}

    def _ranges_of_redrawn_medians(self) -> dict[str, float]:
        """Returns, by class, the range of the medians of harts drawn anew from the sample."""
        cells = np.array(self.ns)
        distances = np.array(
            [
                [distance(self.machine, a, b) if a != b else "" for b in self.harts]
                for a in self.harts
            ]
        )
        draws = np.random.default_rng(0)
        chosen = draws.integers(len(self.harts), size=(HARTS_REDRAWN, len(self.harts)))
        ranges = {}
        for name in self._classes(self.ns):
            pairs = (distances == name) & ~np.isnan(cells)
            medians = [
                np.median(cells[np.ix_(harts, harts)][pairs[np.ix_(harts, harts)]])
                for harts in chosen
                if pairs[np.ix_(harts, harts)].any()
            ]
            ranges[name] = float(np.ptp(medians))
        return ranges

    def _of_seeds(self) -> list[Ns]:
        """Returns one matrix per seed, from the runs that finished; [] for a single seed."""
        tables: dict[object, list[Table]] = {}
        for result in self.results:
            for point in result.points:
                tables.setdefault(point.seed, []).append(_published(point.tables))
        return [_latencies(of_seed) for of_seed in tables.values()] if len(tables) > 1 else []


def _range_of_medians(medians: Sequence[float]) -> float | None:
    return round(max(medians) - min(medians), 2) if len(medians) > 1 else None


def _combined(*ranges: float | None) -> float | None:
    """Combines the ranges of independent causes into one; None stands for an unknown range."""
    known = [value for value in ranges if value is not None]
    return round(math.hypot(*known), 2) if known else None


def _published(tables: Mapping[str, Table]) -> Table:
    """Returns the first table that a run publishes, which holds the latencies."""
    return next(iter(tables.values()))


def tournament(
    machine: str | Machine, workload: str, harts: Sequence[int] = (), **options: Any
) -> Job:
    """Returns the job that measures every pair of `harts` (default: all); other harts sleep."""
    # Placement `siblings` is tree order: thread t is on hart t, or without SMT on the first hart of
    # core t.
    placement = ",".join(map(str, harts)) or "siblings"
    threads = (len(harts),) if harts else "max"
    return make_job(machine, workload, threads, placement=placement, **options)


def repeats(machine: Machine, slices: str) -> int:
    """Returns the usual number of seeds; it is larger if each seed draws the slice of the line."""
    return SLICES_DRAWN if slice_is_drawn(slices, machine) else REPEATS


def shared(rounds: int, seeds: int) -> int:
    """Returns the number of round trips per pair and seed. With more seeds than usual each seed
    gets fewer, so that the sum stays the same.
    """
    return max(1, rounds * REPEATS // max(REPEATS, seeds))


def measure(
    machine: str,
    *,
    ipi: bool,
    overrides: Mapping[str, str],
    smt: bool,
    seeds: Seeds = lambda _: (),
    slow: bool = False,
    only: Sample | None = None,
    as_measured: bool = False,
    engine_options: EngineOptions = NO_OPTIONS,
    store: Store | None = None,
    resume: bool = False,
    workers: Workers = 1,
    **policies: Any,
) -> Matrix:
    """Measures all pairs of harts, or those of the sample `only`.

    `as_measured`: the line gets the home and slice that it had on the real machine.
    """
    if as_measured:
        policies |= _conditions(machine, ipi)
    job = tournament(machine, WORKLOADS[ipi], overrides=overrides, slow=True, smt=smt, **policies)
    job = _seeded(job, seeds)
    whole = len(job.harts)
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
    what = IPI_LATENCY if ipi else LINE_LATENCY
    measured = None if ipi else _measured(job.machine)
    alike = measured is not None and _alike(job, measured)
    sampled = only is not None and len(job.harts) < whole
    return Matrix(
        job.machine, job.harts, what, ns, played.results, measured, alike, sampled, stopped
    )


def _measured(machine: Machine) -> MeasuredHandoffs | None:
    """Returns handoffs of the real machine, from the first plugin (`uncore.measured`) that knows
    it, or None.
    """
    plugin_functions: Iterator[Callable[[Machine], MeasuredHandoffs | None]] = plugins.loaded(
        "uncore.measured"
    )
    return next(filter(None, (handoffs(machine) for handoffs in plugin_functions)), None)


def _conditions(machine: str, ipi: bool) -> dict[str, str]:
    """Returns home and slices of the line on the real machine, as policies of a job.

    Raises UserError if the machine was not measured.
    """
    measured = None if ipi else _measured(topology.load(machine, measured=True))
    if not measured:
        what = "interrupts between its harts" if ipi else "it"
        raise UserError(f"--as-measured: nobody here has measured {what}; leave it out: {machine}")
    return {"home": measured.home, "slices": measured.slices}


def _alike(job: Job, measured: MeasuredHandoffs) -> bool:
    """True if the job's line has the same home and slice as the measured line."""
    # node where the workload places the line
    home = "node0" if job.home == "addressed" else job.home
    return (
        home == measured.home or len(job.machine.memories) == 1
    ) and job.slices == measured.slices


def _seeded(job: Job, seeds: Seeds) -> Job:
    job = replace(job, seeds=seeds(repeats(job.machine, job.slices)))
    return job.given({"rounds": _rounds(job)}) if len(job.seeds) > REPEATS else job


def _rounds(job: Job) -> int:
    """Round trips per pair and seed."""
    usual: int = job.program.parameter("rounds").default
    return shared(usual, len(job.seeds))


def _parts(job: Job) -> list[Job]:
    harts = job.threads[0]
    part_count = max(1, round(harts * (harts - 1) / 2 / MAX_PAIRS_PER_RUN))
    if part_count == 1:
        return [job]
    return [job.given({"parts": part_count, "part": part}) for part in range(part_count)]


@dataclass(frozen=True)
class _Played:
    results: list[Result]
    ends: list[BaseException]  # exceptions of runs that ended early

    @property
    def tables(self) -> list[Table]:
        """Tables that the runs published, including those of runs that ended early."""
        points = [point for result in self.results for point in result.points]
        published = [point.tables for point in points]
        published += [Unfinished.tables_of(end) for end in self.ends]
        return [_published(tables) for tables in published if tables]


def _play(
    jobs: Sequence[Job],
    engine_options: EngineOptions,
    store: Store | None,
    resume: bool,
    workers: Workers,
) -> _Played:
    harts = jobs[0].threads[0]
    ends: list[BaseException] = []
    trips = harts * (harts - 1) * _rounds(jobs[0]) * max(1, len(jobs[0].seeds))
    with progress(trips, "measuring", "round trips") as advance:
        played = shown = 0

        def done(job: Job, point: Point) -> None:
            nonlocal played
            played += point.ops
            tick(0, 0)

        def tick(operations: int, reached: int, under_way: int = 1) -> None:
            nonlocal shown
            advance(max(0, played + operations - shown))
            shown = max(shown, played + operations)

        results = execute(
            jobs,
            workers,
            done,
            lambda _, error: ends.append(error),
            tick=tick,
            engine_options={**NO_TIME_LIMIT, **engine_options},
            interrupted=lambda _, stopped: ends.append(stopped),
            store=store,
            resume=resume,
        )
    return _Played(results, ends)


def _latencies(tables: Sequence[Table]) -> list[list[float]]:
    """Converts tables in ps to a matrix in ns: means over the runs that measured a pair (0: it did
    not).
    """
    if not len(tables):  # stopped before a run published its table
        return []
    cells = np.array(tables, dtype=float) / 1000
    played = (cells > 0).sum(axis=0)
    ns = np.where(played, cells.sum(axis=0) / np.maximum(played, 1), math.nan)
    np.fill_diagonal(ns, 0.0)
    rows: list[list[float]] = ns.tolist()
    return rows


def measured_pairs(ns: Sequence[Sequence[float]]) -> int:
    """Returns the number of measured pairs; both directions of a pair count."""
    return sum(not math.isnan(v) for a, row in enumerate(ns) for b, v in enumerate(row) if a != b)


def show(matrix: Matrix, as_json: bool) -> None:
    """Prints the distance classes as a table, and the matrix if it is small enough for a screen."""
    rows = matrix.by_class()
    if as_json:
        document: dict[str, Any] = {
            "machine": matrix.machine.id,
            "unit": "ns",
            "harts": matrix.harts,
            "classes": rows,
            "ns": matrix.ns,
        }
        if matrix.measured:
            line_place = {"home": matrix.measured.home, "slices": matrix.measured.slices}
            document["measured_at"] = line_place
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
    if matrix.measured and not matrix.alike:
        say(
            f"The real machine was measured with the line on {matrix.measured.home}, slice"
            f" {matrix.measured.slices}: --as-measured plays so, and shows its medians.\n"
        )


COLUMNS = [
    Column(
        "within one",
        "class",
        left=True,
        about="innermost level of the machine that contains both harts",
    ),
    Column("pairs", "pairs", about="number of pairs of harts at this distance"),
    Column("min ns", "min_ns", "{:.1f}".format, about="smallest one-way latency"),
    Column(
        "median ns",
        lambda row: spread(row["median_ns"], row["apart_ns"]),
        about="median one-way latency; +-: half the range of the medians of single seeds, each of"
        " which places the line at a slice of its own; for a sample of harts, it includes the"
        " range over other samples",
    ),
    Column("max ns", "max_ns", "{:.1f}".format, about="largest one-way latency"),
    Column(
        "measured ns",
        "measured_ns",
        lambda v: f"{v:.1f}" if v else EMPTY,
        about="median on the real machine, if it was measured for such a line",
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
    """Writes the matrix in ns: row = from, column = to; empty for pairs that were not measured."""
    lines = [",".join("" if math.isnan(v) else f"{v:.3f}" for v in row) for row in matrix.ns]
    write_whole(path, "\n".join(lines) + "\n")


def panel(matrix: Matrix) -> plot.Panel:
    """Returns the heat map."""
    title = f"{matrix.machine.name}: {matrix.what}"
    return plot.heat_map(matrix.ns, boundaries(matrix.machine, matrix.harts), title, "ns")


def comparison(matrix: Matrix) -> plot.Panel:
    """Returns bars per distance class: simulated, and measured on the real machine where known."""
    groups = {
        row["class"]: {"simulated": row["median_ns"]}
        | ({"measured": row["measured_ns"]} if row["measured_ns"] else {})
        for row in matrix.by_class()
    }
    return plot.bars(groups, f"{matrix.machine.name}: {matrix.what}, median", "ns")
