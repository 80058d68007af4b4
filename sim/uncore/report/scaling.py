"""The report of `uncore scaling`: speed-ups, serial fraction, and the fitted law.

`show(scaling)` prints it, `panel(scaling)` returns its picture.  Numbers that were not measured are
marked: `~` precedes a speed-up computed from a rate, and a row of the law says `predicted`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from uncore.drawing import formats as units
from uncore.drawing import plot as plots
from uncore.drawing.spread import height, say_seeds, throughput
from uncore.drawing.table import Column, Row, emit, say
from uncore.result.scaling import Law, Scaling

# kind of speed-up -> quantity that must be equal in all runs to measure it
HELD_BY_SENSE = {"problem": "work", "time": "time"}


ABOUT = {
    "problem": "the same work sooner",
    "time": "more work in the same time",
    "memory": "more work per time",
}


def show(scaling: Scaling) -> None:
    """Prints the points, the law's coefficients, and the law's values and predictions."""
    rows = [msgspec.to_builtins(row) for row in scaling.rows]
    emit(rows, False, _columns(scaling.held), f"{scaling.workload} on {scaling.machine}")
    say_seeds(scaling.seeds)
    if scaling.held != "work" or scaling.law is None:
        held = f"the run held {scaling.held}" if scaling.held else "work and time both varied"
        say(f"~ from the rate of each point: {held}", "dim")
    if scaling.law is None:
        say("no law fitted: it has three coefficients, so it needs three thread counts")
        return
    _show_law(scaling.law)
    predictions = [msgspec.to_builtins(row) for row in scaling.predictions]
    emit(predictions, False, LAW_COLUMNS, "what the law says of each count")


def _fraction(value: float | None) -> str:
    return units.EMPTY if value is None else f"{value:.4f}"


def _columns(held: str) -> list[Column]:
    def sense(name: str) -> Column:
        mark = "" if HELD_BY_SENSE.get(name, held) == held else "~"
        return Column(
            f"speed-up, {name}",
            f"speedup_{name}",
            lambda v: f"{mark}{v:.2f}",
            about=ABOUT[name],
        )

    return [
        Column("threads", "threads", key=True),
        throughput(),
        sense("problem"),
        sense("time"),
        sense("memory"),
        Column(
            "per thread",
            "per_thread",
            "{:.3f}".format,
            about="throughput per thread, relative to one thread alone",
        ),
        Column(
            "1/n",
            "all_serial",
            "{:.3f}".format,
            about="throughput per thread if all work were serial",
        ),
        Column(
            "serial fraction",
            "serial_fraction",
            _fraction,
            about="0: each thread is as fast as one alone; 1: as slow as 1/n",
        ),
    ]


COLUMNS = _columns("")
LAW_COLUMNS = [
    Column("threads", "threads"),
    Column("ops/s", "throughput", units.rate),
    Column("standard error", "error", units.rate),
    Column("", lambda row: "" if row["measured"] else "predicted", left=True),
]


def _show_law(law: Law) -> None:
    def term(name: str, value: float, error: float | None) -> Row:
        unknown = "unknown: no more points than coefficients"
        return {
            "coefficient": name,
            "value": f"{value:.4g}",
            "error": unknown if error is None else f"{error:.2g}",
        }

    rows: list[Any] = [
        term("lambda, operations a second of one thread", law.scale, law.scale_error),
        term("sigma, contention", law.contention, law.contention_error),
        term("kappa, coherence", law.coherence, law.coherence_error),
    ]
    columns = [
        Column("coefficient", "coefficient", left=True),
        Column("value", "value"),
        Column("standard error", "error"),
    ]
    emit(rows, False, columns, "Universal Scalability Law")
    peak = "grows without end" if law.peak is None else f"peaks at {law.peak:.1f} threads"
    say(f"the law {peak}; its worst point is {100 * law.worst:.0f} % off\n")


def panel(scaling: Scaling) -> plots.Panel:
    """Draws measured throughput and the law, with its prediction, over threads."""
    rows = [msgspec.structs.asdict(row) for row in scaling.rows]
    series: dict[str, list[tuple[float, ...]]] = {
        "simulated": [(row["threads"], *height(row)) for row in rows]
    }
    if scaling.predictions:
        beyond = scaling.rows[-1].threads
        label = f"law; beyond {beyond} threads predicted"
        series[label] = [(p.threads, p.throughput / 1e6) for p in scaling.predictions]
    title = f"{scaling.workload} on {scaling.machine}"
    dashed = list(series)[1:]
    return plots.curves(series, title, "threads", "million operations per second", dashed)
