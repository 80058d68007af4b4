"""The core-to-core matrix: guest programs measure the latency of every pair of harts.

Interface: `measure(machine, ipi, ...)` -> Matrix; `show`, `write_csv` and `panel` report it;
`tournament(machine, workload, harts)` returns the job, which validation uses, too.

One run measures the pairs of up to 64 harts. If there are more harts, the pairs are split into
several runs, which can use several cores of the host. Each run starts on an idle machine, so the
figures do not depend on the number of host cores.

Every pair is measured with each seed, and its figure is the mean. The spread of a distance class is
the range of its medians with single seeds. A seed also chooses the slice of the line (V10). If that
matters, there are more seeds with fewer round trips each, so that their sum stays the same. Another
sample of harts would have other medians, too. So the spread of a sampled matrix also includes the
range of the medians of harts that are drawn again from the sample (the bootstrap).

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
from uncore.job.forms import REPEATS, SEEDS_IF_SLICE_IS_DRAWN
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
# Chooses the seeds; its argument is the usual number of seeds. An empty tuple means a single run in
# lockstep.
Seeds = Callable[[int], tuple[int, ...]]

LINE_LATENCY, IPI_LATENCY = "one-way latency", "one-way IPI latency"
# Large matrices take longer than the usual limit, but they always end.
NO_TIME_LIMIT = {"max_time": "none"}
MAX_PAIRS_PER_RUN = 2016  # the pairs of 64 harts
WORKLOADS = {False: "latency/pingpong", True: "ipi/pingpong"}
BOOTSTRAP_SAMPLES = 200  # number of times that harts are drawn again from the sample


@dataclass(frozen=True)
class MeasuredHandoffs:
    """Handoff latencies that were measured on a real machine."""

    ns: Mapping[str, float]  # distance class -> median of one-way latency
    home: str  # home of the measured line, as in --home
    slices: str  # slice of the measured line, as in --slices; "hash": unknown


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
    same_line_place: bool = False
    sampled: bool = False  # True if only a sample of the machine's harts was measured
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
        measured = self.measured.ns if self.measured and self.same_line_place else {}
        return [
            {
                "machine": self.machine.id,
                "class": name,
                "pairs": len(values),
                "min_ns": min(values),
                "median_ns": round(statistics.median(values), 2),
                "apart_ns": _combined_range(
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
        """Returns, by class, the range of the medians over bootstrap samples of the harts."""
        cells = np.array(self.ns)
        distances = np.array(
            [
                [distance(self.machine, a, b) if a != b else "" for b in self.harts]
                for a in self.harts
            ]
        )
        generator = np.random.default_rng(0)
        samples = generator.integers(len(self.harts), size=(BOOTSTRAP_SAMPLES, len(self.harts)))
        ranges = {}
        for name in self._classes(self.ns):
            pairs = (distances == name) & ~np.isnan(cells)
            medians = [
                np.median(cells[np.ix_(harts, harts)][pairs[np.ix_(harts, harts)]])
                for harts in samples
                if pairs[np.ix_(harts, harts)].any()
            ]
            ranges[name] = float(np.ptp(medians))
        return ranges

    def _of_seeds(self) -> list[Ns]:
        """Returns one matrix per seed, from the finished runs; [] if there is a single seed."""
        tables: dict[object, list[Table]] = {}
        for result in self.results:
            for point in result.points:
                tables.setdefault(point.seed, []).append(_published_table(point.tables))
        return [_latencies(of_seed) for of_seed in tables.values()] if len(tables) > 1 else []


def _range_of_medians(medians: Sequence[float]) -> float | None:
    return round(max(medians) - min(medians), 2) if len(medians) > 1 else None


def _combined_range(*ranges: float | None) -> float | None:
    """Combines the ranges of independent causes into one; unknown ranges (None) are ignored."""
    known = [value for value in ranges if value is not None]
    return round(math.hypot(*known), 2) if known else None


def _published_table(tables: Mapping[str, Table]) -> Table:
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
    return SEEDS_IF_SLICE_IS_DRAWN if slice_is_drawn(slices, machine) else REPEATS


def rounds_per_seed(rounds: int, seeds: int) -> int:
    """Returns the number of round trips per pair and seed. If there are more seeds than usual, each
    gets fewer, so that their sum stays the same.
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
    """Measures all pairs of harts, or the pairs of the sample `only`.

    With `as_measured`, the line has the home and the slice that it had on the real machine.
    """
    if as_measured:
        policies |= _conditions(machine, ipi)
    job = tournament(machine, WORKLOADS[ipi], overrides=overrides, slow=True, smt=smt, **policies)
    job = _with_seeds(job, seeds)
    all_harts = len(job.harts)
    if only:
        players = sample(job.machine, job.harts, *only)
        job = replace(job, threads=(len(players),), placement=",".join(map(str, players)))
    if not slow:
        refuse_slow(job)
    runs = _run_parts(_parts(job), engine_options, store, resume, workers)
    ns = _latencies(runs.tables)
    stopped = runs.ends[0] if runs.ends else None
    if stopped and not measured_pairs(ns):
        raise stopped
    if not ns:
        raise UserError(f"{WORKLOADS[ipi]} published no table on engine '{job.engine}'")
    what = IPI_LATENCY if ipi else LINE_LATENCY
    measured = None if ipi else _measured_handoffs(job.machine)
    return Matrix(
        job.machine,
        job.harts,
        what,
        ns,
        runs.results,
        measured,
        same_line_place=measured is not None and _same_line_place(job, measured),
        sampled=only is not None and len(job.harts) < all_harts,
        stopped=stopped,
    )


def _measured_handoffs(machine: Machine) -> MeasuredHandoffs | None:
    """Returns the handoffs that were measured on the real machine, from the first plugin
    (`uncore.measured`) that knows it; None if there is none.
    """
    plugin_functions: Iterator[Callable[[Machine], MeasuredHandoffs | None]] = plugins.loaded(
        "uncore.measured"
    )
    return next(filter(None, (handoffs(machine) for handoffs in plugin_functions)), None)


def _conditions(machine: str, ipi: bool) -> dict[str, str]:
    """Returns the home and the slice of the line on the real machine, as policies of a job.

    Raises UserError if the machine was not measured.
    """
    measured = None if ipi else _measured_handoffs(topology.load(machine, measured=True))
    if not measured:
        what = "interrupts between its harts" if ipi else "it"
        raise UserError(f"--as-measured: nobody here has measured {what}; leave it out: {machine}")
    return {"home": measured.home, "slices": measured.slices}


def _same_line_place(job: Job, measured: MeasuredHandoffs) -> bool:
    """True if the job's line has the same home and slice as the measured line."""
    # node where the workload places the line
    home = "node0" if job.home == "addressed" else job.home
    return (
        home == measured.home or len(job.machine.memories) == 1
    ) and job.slices == measured.slices


def _with_seeds(job: Job, seeds: Seeds) -> Job:
    job = replace(job, seeds=seeds(repeats(job.machine, job.slices)))
    return job.adding({"rounds": _rounds(job)}) if len(job.seeds) > REPEATS else job


def _rounds(job: Job) -> int:
    """Returns the number of round trips per pair and seed."""
    usual: int = job.program.parameter("rounds").default
    return rounds_per_seed(usual, len(job.seeds))


def _parts(job: Job) -> list[Job]:
    harts = job.threads[0]
    part_count = max(1, round(harts * (harts - 1) / 2 / MAX_PAIRS_PER_RUN))
    if part_count == 1:
        return [job]
    return [job.adding({"parts": part_count, "part": part}) for part in range(part_count)]


@dataclass(frozen=True)
class _Runs:
    results: list[Result]
    ends: list[BaseException]  # exceptions of runs that ended early

    @property
    def tables(self) -> list[Table]:
        """Returns the tables that the runs published, including runs that ended early."""
        points = [point for result in self.results for point in result.points]
        published: list[Mapping[str, Table]] = [point.tables for point in points]
        published += [Unfinished.tables_of(end) for end in self.ends]
        return [_published_table(tables) for tables in published if tables]


def _run_parts(
    jobs: Sequence[Job],
    engine_options: EngineOptions,
    store: Store | None,
    resume: bool,
    workers: Workers,
) -> _Runs:
    harts = jobs[0].threads[0]
    ends: list[BaseException] = []
    trips = harts * (harts - 1) * _rounds(jobs[0]) * max(1, len(jobs[0].seeds))
    with progress(trips, "measuring", "round trips") as advance:
        finished_ops = shown_ops = 0

        def done(job: Job, point: Point) -> None:
            nonlocal finished_ops
            finished_ops += point.ops
            tick(0, 0)

        def tick(operations: int, reached: int, under_way: int = 1) -> None:
            nonlocal shown_ops
            advance(max(0, finished_ops + operations - shown_ops))
            shown_ops = max(shown_ops, finished_ops + operations)

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
    return _Runs(results, ends)


def _latencies(tables: Sequence[Table]) -> list[list[float]]:
    """Converts tables in ps to one matrix in ns: the mean of each pair over the runs that measured
    it. In a table, 0 means that the run did not measure the pair.
    """
    if not len(tables):  # stopped before a run published its table
        return []
    cells = np.array(tables, dtype=float) / 1000
    counts = (cells > 0).sum(axis=0)
    ns = np.where(counts, cells.sum(axis=0) / np.maximum(counts, 1), math.nan)
    np.fill_diagonal(ns, 0.0)
    rows: list[list[float]] = ns.tolist()
    return rows


def measured_pairs(ns: Sequence[Sequence[float]]) -> int:
    """Returns the number of measured pairs; both directions of a pair count."""
    return sum(not math.isnan(v) for a, row in enumerate(ns) for b, v in enumerate(row) if a != b)


def show(matrix: Matrix, as_json: bool) -> None:
    """Prints a table of the distance classes, and the matrix itself if it is small enough."""
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
    if matrix.measured and not matrix.same_line_place:
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
    """Writes the matrix in ns: rows are senders, columns receivers; unmeasured pairs are empty."""
    lines = [",".join("" if math.isnan(v) else f"{v:.3f}" for v in row) for row in matrix.ns]
    write_whole(path, "\n".join(lines) + "\n")


def panel(matrix: Matrix) -> plot.Panel:
    """Returns the heat map."""
    title = f"{matrix.machine.name}: {matrix.what}"
    return plot.heat_map(matrix.ns, boundaries(matrix.machine, matrix.harts), title, "ns")


def comparison(matrix: Matrix) -> plot.Panel:
    """Returns bars for each distance class: the simulated median, and the measured one if known."""
    groups = {
        row["class"]: {"simulated": row["median_ns"]}
        | ({"measured": row["measured_ns"]} if row["measured_ns"] else {})
        for row in matrix.by_class()
    }
    return plot.bars(groups, f"{matrix.machine.name}: {matrix.what}, median", "ns")
