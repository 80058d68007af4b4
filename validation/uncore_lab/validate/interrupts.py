"""Compares interrupts: the latency of one, the rate of a storm, and the growth of a broadcast.

    run(request) -> Section

There are three experiments.  *Latency*: one measured figure of a machine scales the four numbers of
its `[interrupt]` together; its other figures are predictions.  *Storm*: all harts interrupt their
neighbours, and handlers write one descriptor for the whole system or one for each chip.  Private
work is fitted at the smallest thread count; the other points are predictions.  *Broadcast*: the
time until an interrupt has reached the last hart, by the number of harts, with single interrupts
and with multicast.

In the model the latency of an IPI depends on distance; no public source says how it does on real
machines.
"""

from __future__ import annotations

import math
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from uncore import topology
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, Row
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.topology.machine import Machine
from uncore_lab.figures import INTERRUPTS
from uncore_lab.results.table import Table
from uncore_lab.validate.section import Request, Section

# factors on the interrupt costs in two runs, between which the fitted factor is interpolated
PROBE_SCALES = 1.0, 2.0
# private instructions in two runs, between which the fitted number is interpolated
PROBE_INSTRUCTIONS = 2_000, 40_000
STORM_CALLS_PER_HART = 30
BROADCAST_MACHINE, BROADCAST_HARTS = (
    "mesh:8x8",
    (4, 8, 16, 32, 64),
)  # the machine and the harts of broadcasts
# bounds: two differences in %, the R2 of a straight line, and an exponent of growth
MAX_SAME_CHIP_DIFFERENCE_PCT, MAX_RATIO_ERROR_PCT = 10, 40
MIN_STRAIGHT_LINE_R2, MAX_MULTICAST_EXPONENT = 0.99, 0.7

PROSE = (
    "One measured figure of a machine fits its interrupts (all four numbers of `[interrupt]` by"
    " one factor); the others follow. In the storm every hart interrupts its neighbour and waits,"
    " and the handler writes the interrupt's descriptor, of the system or of its chip; only the"
    " private work is fitted, to the fewest threads; POWER machines are shapes of estimates. That"
    " siblings take turns with a contended line (rule C9 of docs/model.md) was decided with these"
    " storms in sight. Broadcasts are on a teaching mesh. Nobody has published how an IPI's latency"
    " depends on distance; `uncore measure` can collect it."
)

Cell = tuple[str, int, int]


class InterruptFigure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measured latency, and the workload that reproduces it."""

    what: str
    ns: float
    workload: str
    threads: int
    cells: list[Cell]  # cells of the workload's tables, in ps; their mean is compared
    set: dict[str, str | int] = {}
    placement: str = "compact"
    fitted: bool = False
    why: str = ""  # explains a known difference


class Storm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Millions of IPIs per second at each thread count, with one descriptor for the whole system,
    and with one for each node.
    """

    threads: list[int]
    one: list[float]
    node: list[float]
    chip: int  # number of threads that fill one chip


class InterruptFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One machine's file; the keys are explained in uncore_lab/figures/README.md."""

    name: str
    quality: str  # quality of the measurement: A (best), A-, B or C
    source: str
    clock: str = ""
    figures: list[InterruptFigure] = []
    storm: Storm | None = None


def figures_by_machine() -> dict[str, InterruptFigures]:
    return {
        path.stem: msgspec.convert(tomllib.loads(path.read_text()), InterruptFigures)
        for path in sorted(INTERRUPTS.glob("*.toml"))
    }


def run(request: Request) -> Section:
    all_figures = figures_by_machine()
    names = request.chosen(all_figures, "no interrupts were measured on")
    rows: list[Row] = []
    broken: list[str] = []
    notes: list[str] = []
    with progress(len(names), "interrupting", "machines") as advance:
        for name in names:
            figures = all_figures[name]
            if figures.figures:
                rows += latencies(name, figures)
            if figures.storm:
                new_rows, new_failures = storm(name, figures.storm, request.cores)
                rows, broken = rows + new_rows, broken + new_failures
            notes += [f"{name}: {fig.what}: {fig.why}" for fig in figures.figures if fig.why]
            notes += [f"{name}: {figures.clock}"] if figures.clock else []
            advance(1)
    if not request.machines:
        new_rows, new_failures = broadcasts(request.cores)
        rows, broken = rows + new_rows, broken + new_failures
    return Section(
        name="interrupts",
        title="Interrupts: simulated against measured",
        prose=PROSE,
        columns=COLUMNS,
        rows=rows,
        broken=broken,
        notes=notes,
        tables=[table(rows)],
    )


def table(rows: Sequence[Row]) -> Table:
    return Table(
        "interrupts",
        ("machine", "figure"),
        [{**row, "err_pct": row["err_pct"] and round(row["err_pct"], 2)} for row in rows],
    )


# ---- latency -------------------------------------------------------------------------------------


def scaled(machine: Machine, factor: float) -> Mapping[str, str]:
    """Returns overrides that multiply the four costs of an interrupt by a factor."""
    interrupt = machine.interrupt
    costs = {
        "send": interrupt.send,
        "accept": interrupt.accept,
        "entry": interrupt.entry,
        "exit": interrupt.exit,
    }
    return {f"interrupt.{key}": f"{factor * ps / 1000:.3f}ns" for key, ps in costs.items()}


def simulated(name: str, figure: InterruptFigure, factor: float) -> float:
    """Simulates the figure and returns its ns. The interrupt costs are `factor` times those of the
    machine's file.
    """
    job = make_job(
        name,
        figure.workload,
        (figure.threads,),
        parameters={key: str(value) for key, value in figure.set.items()},
        overrides=scaled(topology.load(name), factor),
        placement=figure.placement,
    )
    tables = execute([job])[0].points[0].tables or {}
    return statistics.mean(_number(tables[name][row][col]) for name, row, col in figure.cells) / 1e3


def latencies(name: str, measured: InterruptFigures) -> list[Row]:
    (fitted,) = (figure for figure in measured.figures if figure.fitted)
    low, high = (simulated(name, fitted, factor) for factor in PROBE_SCALES)
    factor = PROBE_SCALES[0] + (fitted.ns - low) * (PROBE_SCALES[1] - PROBE_SCALES[0]) / (
        high - low
    )
    return [
        _row(
            name,
            figure.what,
            f"fitted: interrupts x {factor:.2f}" if figure.fitted else "predicted",
            figure.ns,
            simulated(name, figure, factor),
            "ns",
        )
        for figure in measured.figures
    ]


# ---- storm ---------------------------------------------------------------------------------------


def rates(
    machine: str | Machine, descriptor: str, work: int, counts: Sequence[int], cores: int
) -> list[float]:
    """Simulates storms and returns millions of interrupts per second at each thread count."""
    values = {"descriptor": descriptor, "work": str(work), "ops": str(STORM_CALLS_PER_HART)}
    job = make_job(machine, "ipi/storm", counts, parameters=values, placement="siblings")
    points = execute([job], cores)[0].points
    return [_number(point.ops) / _number(point.elapsed_ps) * 1e6 for point in points]


def private_work(name: str, measured: Storm, cores: int) -> int:
    """Returns the private instructions with which the smallest thread count is as fast as measured.
    It interpolates between two probes, then corrects once with the same slope.
    """
    threads, goal = measured.threads[0], measured.threads[0] / measured.one[0]

    def time(work: int) -> float:
        return threads / rates(name, "one", work, [threads], cores)[0]

    low, high = (time(work) for work in PROBE_INSTRUCTIONS)
    slope = (PROBE_INSTRUCTIONS[1] - PROBE_INSTRUCTIONS[0]) / (high - low)
    work = round(PROBE_INSTRUCTIONS[0] + (goal - low) * slope)
    return round(work + (goal - time(work)) * slope)


def storm(name: str, measured: Storm, cores: int) -> tuple[list[Row], list[str]]:
    work = private_work(name, measured, cores)
    rates_one_line, rates_line_per_chip = (
        rates(name, kind, work, measured.threads, cores) for kind in ("one", "node")
    )
    rows: list[Row] = []
    for index, threads in enumerate(measured.threads):
        kind = "predicted" if index else f"fitted: {work} instructions"
        for label, measured_rates, simulated in (
            ("one line", measured.one, rates_one_line),
            ("a line a chip", measured.node, rates_line_per_chip),
        ):
            rows.append(
                _row(
                    name,
                    f"storm of {threads}, {label}",
                    kind,
                    measured_rates[index],
                    simulated[index],
                    "M/s",
                )
            )
            kind = "predicted"
    ratios = [a / b for a, b in zip(rates_line_per_chip, rates_one_line, strict=True)]
    measured_ratio = measured.node[-1] / measured.one[-1]
    label = f"storm of {measured.threads[-1]}: a line a chip over one line"
    rows.append(_row(name, label, "predicted", measured_ratio, ratios[-1], "x"))
    return rows, _past(name, measured, ratios, measured_ratio)


def _past(name: str, measured: Storm, ratios: Sequence[float], measured_ratio: float) -> list[str]:
    sentences = []
    for threads, ratio in zip(measured.threads, ratios, strict=True):
        if threads <= measured.chip and abs(ratio - 1) > MAX_SAME_CHIP_DIFFERENCE_PCT / 100:
            sentences.append(f"{name}: {threads} threads of one chip: ratio {ratio:.2f}, not 1")
    beyond = [
        ratio
        for threads_at_ratio, ratio in zip(measured.threads, ratios, strict=True)
        if threads_at_ratio > measured.chip
    ]
    if min(beyond) <= 1 + MAX_SAME_CHIP_DIFFERENCE_PCT / 100:
        sentences.append(f"{name}: no break at the second chip: ratio {min(beyond):.2f}")
    if abs(ratios[-1] / measured_ratio - 1) > MAX_RATIO_ERROR_PCT / 100:
        sentences.append(
            f"{name}: ratio at full size {ratios[-1]:.2f}, measured {measured_ratio:.2f}"
        )
    return sentences


# ---- broadcast -----------------------------------------------------------------------------------


def broadcasts(cores: int) -> tuple[list[Row], list[str]]:
    """Returns a row for each of two laws, and a sentence for each law that does not hold. With
    single interrupts the time of a broadcast grows linearly: the row has R2 of a straight line.
    With multicast it grows more slowly: the row has the exponent.
    """
    jobs: list[Job] = [
        make_job(
            BROADCAST_MACHINE,
            "ipi/broadcast",
            BROADCAST_HARTS,
            overrides={"interrupt.multicast": word},
        )
        for word in ("no", "yes")
    ]
    single, multicast = (
        [_number((point.tables or {})["reached"][0][1]) for point in result.points]
        for result in execute(jobs, cores)
    )
    receivers = [float(count - 1) for count in BROADCAST_HARTS]
    straight = statistics.correlation(receivers, single) ** 2
    exponent = statistics.linear_regression(
        [math.log(harts) for harts in receivers], [math.log(time) for time in multicast]
    ).slope
    rows: list[Row] = [
        _row(
            BROADCAST_MACHINE,
            "broadcast by single interrupts: R2 of a line",
            "model",
            None,
            straight,
            "",
        ),
        _row(
            BROADCAST_MACHINE,
            "broadcast by multicast: time grows as n to the",
            "model",
            None,
            exponent,
            "",
        ),
    ]
    past = [f"{BROADCAST_MACHINE}: broadcast is not linear: R2 {straight:.4f}"] * (
        straight <= MIN_STRAIGHT_LINE_R2
    )
    past += [f"{BROADCAST_MACHINE}: multicast grows as n^{exponent:.2f}"] * (
        exponent >= MAX_MULTICAST_EXPONENT
    )
    return rows, past


# ---- rows ----------------------------------------------------------------------------------------


def _number(value: Any) -> float:
    """Returns a value of a run as a float. Raises an error if it is missing, because the native
    engine provides all values.
    """
    assert value is not None
    return float(value)


def _row(
    machine: str, what: str, kind: str, measured: float | None, simulated_value: float, unit: str
) -> dict[str, Any]:
    return {
        "machine": machine,
        "figure": what,
        "how": kind,
        "unit": unit,
        "measured": measured,
        "simulated": simulated_value,
        "err_pct": None if measured is None else 100 * (simulated_value / measured - 1),
    }


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("figure", "figure", left=True, key=True),
    Column("how", "how", left=True),
    Column("measured", "measured", _rounded),
    Column("simulated", "simulated", _rounded),
    Column("unit", "unit", left=True),
    Column("err %", "err_pct", lambda v: "" if v is None else f"{v:+.0f}"),
]
