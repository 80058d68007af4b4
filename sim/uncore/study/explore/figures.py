"""Figures that formulas may use: a run's throughput, latencies, traffic and energy.

    of_run(jobs, result, traffic, written) -> {"throughput": 2.2, "lines.memory": 0.1, ...}
    throughput(point)                    returns the throughput of one run
    of_machine(machine)                  -> {"ccx": 32, "core": 256, ..., "ccx.wire": 7.4e4, ...}:
                                         the number of members of each level, and its wires
                                         (wiring.py)

Units: million operations per second; microseconds; lines, messages and bits per operation. `bits`
counts the bits that messages send over those links of a level that have a width; a message that
crosses several links counts on each of them. Energy per operation is the sum of lines, messages and
bits, by level, times their prices, in the unit of the prices.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from uncore.errors import UserError, suggestion
from uncore.job import Job
from uncore.result import Point, Result, repeats
from uncore.result.columns import columns, values
from uncore.study.explore.document import ExplorationFile
from uncore.topology.machine import Machine
from uncore.topology.units import size
from uncore.topology.wiring import formula_values

Traffic = Mapping[str, Sequence[int]]  # level -> (messages without data, messages with data)
Observed = Mapping[int, Traffic]  # traffic of each point, by the identity of its job
THROUGHPUT_NAME = "throughput"
BITS_PER_BYTE = 8


def of_run(
    jobs: Sequence[Job], result: Result, traffic: Observed, written: ExplorationFile
) -> dict[str, float]:
    """Returns the figures of the run with the median throughput. `jobs` has the jobs of all runs,
    `traffic` the traffic of each of them.
    """
    point = repeats(result)[0].median
    ops = max(point.ops, 1)
    figures = {THROUGHPUT_NAME: throughput(point), **_column_figures(point)}
    median_job = next(job for job in jobs if job.seed == point.seed)
    counts = _counts(median_job.machine, point, traffic[id(median_job)])
    for kind, by_level in counts.items():
        figures |= {f"{kind}.{_word(name)}": count / ops for name, count in by_level.items()}
        figures[kind] = sum(by_level.values()) / ops
    energy = sum(_cost(written, kind, by_level) for kind, by_level in counts.items())
    figures["energy"] = energy / ops
    return figures


def throughput(point: Point) -> float:
    return _column_figures(point).get(THROUGHPUT_NAME, 0.0)


def _column_figures(point: Point) -> dict[str, float]:
    """Returns a point's values by the name of their figure, for the columns that have one, in the
    unit of the column's axis.
    """
    row = values(point)
    return {
        column.figure: row[column.key] / column.scale
        for column in columns(Point)
        if column.figure and row[column.key] is not None
    }


def of_machine(machine: Machine) -> dict[str, float]:
    counts = {
        _word(level): float(len({member[: depth + 1] for member in machine.shape}))
        for depth, level in enumerate(machine.levels[:-1])
    }
    return {**counts, "thread": float(machine.harts), **formula_values(machine)}


def _counts(machine: Machine, point: Point, traffic: Traffic) -> dict[str, dict[str, float]]:
    """Returns how many lines, messages and bits were moved: for each of these kinds, a count for
    each level (for lines, for each place that supplied them). A level without traffic has 0.
    """
    levels = machine.levels[:-1]
    stored = dict.fromkeys(f"{resolver.level} data" for resolver in machine.resolvers)
    lines = dict.fromkeys((*levels, *stored, "memory"), 0.0) | (point.transfers or {})
    control_bits, data_bits = (
        _bytes(machine, kind) * BITS_PER_BYTE for kind in ("control", "data")
    )
    by_level = {level: traffic.get(level, (0, 0)) for level in levels if level != "core"}
    return {
        "lines": lines,
        "messages": {level: control + data for level, (control, data) in by_level.items()},
        "bits": {
            level: control * control_bits + data * data_bits
            for level, (control, data) in by_level.items()
        },
    }


def _bytes(machine: Machine, kind: str) -> int:
    return next(size(number.text) for number in machine.numbers if number.key == f"messages.{kind}")


def _cost(written: ExplorationFile, kind: str, counts: Mapping[str, float]) -> float:
    prices: Mapping[str, float] = getattr(written.values.prices, kind)
    for name in prices.keys() - counts.keys():
        raise UserError(
            f"{written.position('prices', kind, name)}: '{name}': no {kind} are counted so."
            f"{suggestion(name, counts)} There are {', '.join(counts)}"
        )
    return sum(prices.get(name, 0) * count for name, count in counts.items())


def _word(name: str) -> str:
    """Converts a name to a form that a formula can contain."""
    return re.sub(r"\W", "_", name)
