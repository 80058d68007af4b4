"""Compares will-it-scale in a kernel that `uncore boot` ran with the measured rates.

    read(consoles) -> Rates             from lines NAME process|thread TASKS RATE of console files
    compare(machine, rates) -> [BootedCurve]   a curve for each program and kind of tasks
    row(curve), panels(...), steps(...)  a table row, pictures and a summary of the comparison

Nothing is fitted.  The clock of a booted machine is constant, while that of the measured machine
varied with the number of busy cores.  So measured rates are converted to operations per clock
period before each curve is divided by its rate with one task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from statistics import median

from uncore.drawing import plot
from uncore.drawing.formats import EMPTY
from uncore.drawing.plot import MEASURED_SUFFIX, Panel
from uncore.drawing.table import Column, Row
from uncore.errors import UserError
from uncore.topology.units import frequency as period
from uncore_lab.validate.scaling import knee, shape_error
from uncore_lab.validate.series import (
    CONTENDED_BELOW_GAIN,
    THREADS_SUFFIX,
    ScalingFigures,
    curves_of,
)

SYSTEM = "linux"
MEASURED_AS = {"getppid1": "getuid1"}  # programs with the same path through the kernel
_LINE = re.compile(r"^(\w+) (process|thread) (\d+) (\d+)\s*$", re.MULTILINE)
EXAMPLE = "open1 process 16 3360000"

_SIMULATED, _MEASURED = attrgetter("rates"), attrgetter("measured")

# operations per second by number of tasks, for each (program, "process" or "thread")
Rates = dict[tuple[str, str], dict[int, float]]


@dataclass(frozen=True)
class BootedCurve:
    """Rates at the task counts that were both simulated and measured. If the program was not
    measured, these are all simulated task counts.
    """

    program: str
    mode: str
    tasks: list[int]
    rates: list[float]
    measured: list[float]  # operations per period of the measured machine's clock

    @property
    def curve(self) -> list[float]:
        return [rate / self.rates[0] for rate in self.rates]

    @property
    def measured_curve(self) -> list[float]:
        return [rate / self.measured[0] for rate in self.measured]

    def step(self, low: int, high: int, rates: Sequence[float]) -> float:
        return rates[self.tasks.index(high)] / rates[self.tasks.index(low)]

    @property
    def is_contended(self) -> bool:
        return bool(self.measured) and self.measured_curve[-1] < CONTENDED_BELOW_GAIN


def read(consoles: Iterable[Path]) -> Rates:
    rates: Rates = {}
    for path in consoles:
        try:
            lines = _LINE.findall(path.read_text(errors="replace"))
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None
        if not lines:
            raise UserError(f"{path}: no rates; expected lines such as '{EXAMPLE}'")
        for program, mode, tasks, rate in lines:
            rates.setdefault((program, mode), {})[int(tasks)] = float(rate)
    return rates


def compare(machine: str, rates: Rates) -> list[BootedCurve]:
    measured = curves_of(machine)
    return [_booted_curve(measured, *key, rates_by_tasks) for key, rates_by_tasks in rates.items()]


def _booted_curve(
    measured: ScalingFigures, program: str, mode: str, rates_by_tasks: dict[int, float]
) -> BootedCurve:
    kind = SYSTEM + (THREADS_SUFFIX if mode == "thread" else "")
    millions = measured.millions.get(MEASURED_AS.get(program, program), {}).get(kind)
    by_tasks = dict(zip(measured.tasks, millions or (), strict=bool(millions)))
    tasks = sorted(rates_by_tasks.keys() & by_tasks.keys() if by_tasks else rates_by_tasks)
    if not tasks:
        raise UserError(
            f"{program}: tasks {sorted(rates_by_tasks)}; expected some of {measured.tasks},"
            " as measured"
        )
    per_clock = [by_tasks[n] * period(measured.clock(SYSTEM, n)) for n in tasks if by_tasks]
    return BootedCurve(program, mode, tasks, [rates_by_tasks[n] for n in tasks], per_clock)


def row(curve: BootedCurve) -> Row:
    measured_curve = curve.measured_curve
    return {
        "program": curve.program,
        "mode": curve.mode,
        "alone": curve.rates[0],
        "tasks": curve.tasks,
        "simulated": [round(value, 2) for value in curve.curve],
        "measured": [round(value, 2) for value in measured_curve] or None,
        "shape_error": round(shape_error(curve.curve, measured_curve), 2)
        if len(measured_curve) > 1
        else None,
        "knee": [knee(curve.tasks, curve.curve), knee(curve.tasks, measured_curve)]
        if measured_curve
        else None,
    }


def steps(curves: Sequence[BootedCurve]) -> str:
    """Describes the change of throughput from each task count to the next: the median ratio over
    all contended programs, simulated and in parentheses measured.
    """
    contended = [curve for curve in curves if curve.is_contended]
    step_texts = []
    for low, high in pairwise(sorted({n for curve in contended for n in curve.tasks})):
        curves_with_both = [curve for curve in contended if {low, high} <= {*curve.tasks}]
        simulated_steps, measured_steps = (
            median(curve.step(low, high, rates(curve)) for curve in curves_with_both)
            for rates in (_SIMULATED, _MEASURED)
        )
        step_texts.append(f"{low} to {high} tasks {simulated_steps:.2f} ({measured_steps:.2f})")
    return "; ".join(step_texts)


def panels(machine: str, curves: Sequence[BootedCurve]) -> list[Panel]:
    """Draws a panel for each program, with a simulated and a dashed measured line for each kind of
    tasks.
    """
    name = curves_of(machine).name
    drawn_panels: list[Panel] = []
    for program in dict.fromkeys(curve.program for curve in curves):
        lines, dashed = {}, []
        for curve in (curve for curve in curves if curve.program == program):
            lines[curve.mode] = list(zip(curve.tasks, curve.curve, strict=True))
            if curve.measured:
                dashed.append(f"{curve.mode}{MEASURED_SUFFIX}")
                lines[dashed[-1]] = list(zip(curve.tasks, curve.measured_curve, strict=True))
        title = f"{program}, {name}"
        drawn_panels.append(
            plot.curves(lines, title, "tasks", "throughput over one task's", dashed)
        )
    return drawn_panels


def _joined_values(values: list[float] | None) -> str:
    return " ".join(f"{value:g}" for value in values) if values else EMPTY


COLUMNS = [
    Column("program", "program", left=True, key=True),
    Column("mode", "mode", left=True, key=True),
    Column("one task, M/s", "alone", lambda rate: f"{rate / 1e6:.3g}"),
    Column("tasks", "tasks", _joined_values, left=True),
    Column("simulated", "simulated", _joined_values, left=True),
    Column("measured", "measured", _joined_values, left=True),
    Column("shape error factor", "shape_error"),
    Column("knee at tasks", "knee", lambda both: f"{both[0]} / {both[1]}" if both else EMPTY),
]
