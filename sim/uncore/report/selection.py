"""The user's choice of axes and figures for a picture of results (chart.py draws it).

Wanted(x="hold", y=("p99",))     the choice; axes have the names of their options
figure(name)                     returns the column of a figure: its key, axis title and scale
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from uncore.errors import UserError, suggestion
from uncore.result import Point
from uncore.result.columns import PointColumn, columns

FIGURES: Mapping[str, PointColumn] = {
    column.figure: column for column in columns(Point) if column.figure
}


@dataclass(frozen=True)
class Wanted:
    """The chosen axes, by the names of their options. If `x` is empty, chart.py chooses it."""

    x: str = ""
    y: Sequence[str] = ("throughput",)
    heat: tuple[str, str] | None = None
    facet: str = ""


def figure(name: str) -> PointColumn:
    if name not in FIGURES:
        names = ", ".join(FIGURES)
        raise UserError(f"--y {name}: expected some of {names}.{suggestion(name, FIGURES)}")
    return FIGURES[name]
