"""Compares curves of will-it-scale on two servers with simulated skeletons of the kernel paths.

    run(request) -> Section
    curves(all_series, cores) -> [ScalingCurve]  simulated and measured

Curves are divided by the rate of one task.  The private instructions of a call (`work`) are fitted
to that rate.  Throughput with more tasks follows from the locks and lines in the kernels' sources,
which were read after the curves were known.  Numbers that the sources do not give are fitted, and
the skeleton names them.  Clocks are those of the measured machine at each number of tasks, because
they depend on the number of busy cores.

Shape error: the typical factor between two curves, exp(mean |ln(simulated / measured)|) over all
points but the first.  Knee: the least number of tasks with at least nine tenths of the best
throughput.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from uncore.drawing.formats import EMPTY
from uncore.drawing.table import Column, Row
from uncore.execution.execute import execute
from uncore.result import Result
from uncore.result.repeats import rate
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar
from uncore_lab.validate.curves import Drawing, pictures
from uncore_lab.validate.section import Request, Section
from uncore_lab.validate.series import CONTENDED_BELOW_GAIN, Series, machines_with_figures, series

# private instructions in the two runs from which `work` is interpolated; both are so many that the
# loop is entered
PROBE_WORK_INSTRUCTIONS = 200, 2200
KNEE_GAIN = 0.9
SHAPE_ERROR_BAR = Bar("curves: median shape error, a factor", 1.3, 1.1, "")
DRAWING = Drawing(
    pictures=("benchmark",),
    panel="machine",
    line="system",
    x="tasks",
    simulated="simulated",
    measured="measured",
    heads=("tasks", "throughput over one task's"),
)

PROSE = (
    "Curves of will-it-scale on three systems, each divided by its rate with one task. `work`, the"
    " private instructions of a call, is fitted so that one task is as fast as measured; the clocks"
    " follow the measured machine's. Locks and lines are those of the kernels' sources, but were"
    " looked up after the curves had been seen; what the sources do not tell was chosen by the"
    " curves (`fitted besides`). Pairs are simulated / measured; the shape error is the typical"
    " factor between the curves."
)


def shape_error(simulated: Sequence[float], measured: Sequence[float]) -> float:
    logs = [abs(math.log(s / m)) for s, m in zip(simulated, measured, strict=True)]
    return math.exp(statistics.fmean(logs[1:]))


def knee(tasks: Sequence[int], curve: Sequence[float]) -> int:
    knee_gain = KNEE_GAIN * max(curve)
    return next(n for n, v in zip(tasks, curve, strict=True) if v >= knee_gain)


@dataclass(frozen=True)
class ScalingCurve:
    """The throughput of a series at each task count, divided by that of one task."""

    series: Series
    work: int
    simulated: list[float]
    measured: list[float]

    @property
    def shape_error(self) -> float:
        return shape_error(self.simulated, self.measured)

    def knee(self, curve: list[float]) -> int:
        return knee(self.series.measured.tasks, curve)

    def peak(self, curve: list[float]) -> int:
        return self.series.measured.tasks[curve.index(max(curve))]

    def smt_yield(self, curve: list[float]) -> float:
        """Returns the throughput with all hardware threads divided by that with all cores."""
        return curve[-1] / curve[self.series.measured.tasks.index(self.series.measured.cores)]

    def is_contended(self, curve: list[float]) -> bool:
        return (
            curve[self.series.measured.tasks.index(self.series.measured.cores)]
            < CONTENDED_BELOW_GAIN
        )


# ---- Simulation ----------------------------------------------------------------------------------


def curves(all_series: Sequence[Series], cores: int = 1) -> list[ScalingCurve]:
    """Simulates each series; the curves come in the same order."""
    works = _fit_work(all_series, cores)
    jobs = [curve.jobs(work) for curve, work in zip(all_series, works, strict=True)]
    results = iter(execute([job for curve_jobs in jobs for job in curve_jobs], cores))
    simulated = []
    for curve, work, own_jobs in zip(all_series, works, jobs, strict=True):
        rates = _rates([next(results) for _ in own_jobs])
        simulated.append(
            ScalingCurve(
                curve,
                work,
                [rates[n] / rates[1] for n in curve.measured.tasks],
                [rate / curve.rates[0] for rate in curve.rates],
            )
        )
    return simulated


def _rates(results: Sequence[Result]) -> dict[int, float]:
    return {p.threads: rate(p) for r in results for p in r.points}


def _fit_work(all_series: Sequence[Series], cores: int) -> list[int]:
    """Fits the private instructions of a call so that one task takes as long as measured.

    The time is linear in these instructions, so two runs suffice. The result is 0 if the skeleton
    takes longer without any.
    """
    jobs = [curve.job([1], work) for curve in all_series for work in PROBE_WORK_INSTRUCTIONS]
    times = [1e9 / _rates([result])[1] for result in execute(jobs, cores)]
    works = []
    for curve, short_time, long_time in zip(all_series, times[::2], times[1::2], strict=True):
        target = 1e9 * curve.skeleton.counted / curve.rates[0]
        slope = (PROBE_WORK_INSTRUCTIONS[1] - PROBE_WORK_INSTRUCTIONS[0]) / (long_time - short_time)
        works.append(max(0, round(PROBE_WORK_INSTRUCTIONS[0] + (target - short_time) * slope)))
    return works


# ---- Output --------------------------------------------------------------------------------------


def run(request: Request) -> Section:
    chosen = series(request.chosen(machines_with_figures(), "no curves were measured on"))
    simulated = curves(chosen, request.cores)
    return Section(
        name="scaling",
        title="will-it-scale: a skeleton of the kernel path against the measured curve",
        prose=PROSE,
        columns=COLUMNS,
        rows=[_row(curve) for curve in simulated],
        bars=[(SHAPE_ERROR_BAR, statistics.median(curve.shape_error for curve in simulated))],
        notes=[_step_note(name, simulated) for name in dict.fromkeys(s.machine for s in chosen)],
        pictures=pictures("scaling", table(simulated).rows, DRAWING) if request.pictures else (),
        tables=[table(simulated)],
    )


def table(curves: Sequence[ScalingCurve]) -> Table:
    return Table(
        "scaling",
        ("machine", "benchmark", "system", "tasks"),
        [row for curve in curves for row in _points(curve)],
    )


def _points(curve: ScalingCurve) -> list[Row]:
    """Returns a row for each task count with its throughput divided by that of one task."""
    series = curve.series
    points = zip(series.measured.tasks, curve.measured, curve.simulated, strict=True)
    return [
        {
            "machine": series.machine,
            "benchmark": series.benchmark,
            "system": series.kind,
            "tasks": tasks,
            "work": curve.work,
            "measured": measured,
            "simulated": simulated,
        }
        for tasks, measured, simulated in points
    ]


def _row(curve: ScalingCurve) -> Row:
    simulated, measured, series = curve.simulated, curve.measured, curve.series
    return {
        "machine": series.machine,
        "benchmark": series.benchmark,
        "system": series.kind,
        "work": curve.work,
        "fitted": list(series.skeleton.fitted),
        "tasks": series.measured.tasks,
        "simulated": [round(v, 2) for v in simulated],
        "measured": [round(v, 2) for v in measured],
        "shape_error": round(curve.shape_error, 2),
        "peak": [curve.peak(simulated), curve.peak(measured)],
        "knee": [curve.knee(simulated), curve.knee(measured)],
        "smt_yield": [round(curve.smt_yield(simulated), 2), round(curve.smt_yield(measured), 2)],
    }


def step_ratios(curves: Sequence[ScalingCurve]) -> list[tuple[float, float]]:
    """Returns a pair (simulated, measured) for each step from one task count to the next: the
    median ratio of throughput over the series that were contended in the measurement.
    """
    contended = [curve for curve in curves if curve.is_contended(curve.measured)]
    return [
        (
            _median_step(interval, [c.simulated for c in contended]),
            _median_step(interval, [c.measured for c in contended]),
        )
        for interval in pairwise(range(len(curves[0].series.measured.tasks)))
    ]


def _median_step(interval: tuple[int, int], curves_: Sequence[list[float]]) -> float:
    return statistics.median(curve[interval[1]] / curve[interval[0]] for curve in curves_)


def _step_note(machine: str, curves: Sequence[ScalingCurve]) -> str:
    curves_of_machine = [curve for curve in curves if curve.series.machine == machine]
    figures = curves_of_machine[0].series.measured
    steps = [
        f"{a} to {b} tasks {simulated:.2f} (measured {measured:.2f}, over all {over_all:.2f})"
        for (a, b), (simulated, measured), over_all in zip(
            pairwise(figures.tasks),
            step_ratios(curves_of_machine),
            figures.steps.ratios,
            strict=True,
        )
    ]
    return (
        f"{machine}, signature: median ratio of throughput over the contended series, and over all"
        f" {figures.steps.series} measured ones: {'; '.join(steps)}"
    )


def _pair_text(value: list[float]) -> str:
    return f"{value[0]} / {value[1]}"


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("benchmark", "benchmark", left=True, key=True),
    Column("system", "system", left=True),
    Column("work", "work"),
    Column("fitted besides", lambda row: ", ".join(row["fitted"]) or EMPTY, left=True),
    Column("shape error factor", "shape_error"),
    Column("peak at threads", "peak", _pair_text),
    Column("knee at threads", "knee", _pair_text),
    Column("SMT yield", "smt_yield", _pair_text),
]
