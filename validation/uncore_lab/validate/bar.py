"""Bounds that hold today, beside what they are to become.

    Bar(what, bound, goal, unit, least).text(value)      past([(bar, value)]) -> what does not hold
    rows(experiment, values) -> those of validation/results/bars.csv

A bound that nothing keeps says nothing, and a bound without its goal calls any result good: so both
are stated, and printed beside the value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from uncore.drawing.table import Column, Row


@dataclass(frozen=True)
class Bar:
    what: str
    bound: float
    goal: float
    unit: str
    least: bool = False  # the value is to be at least so large; else at most

    def holds(self, value: float) -> bool:
        return value >= self.bound if self.least else value <= self.bound

    @property
    def side(self) -> str:
        return "at least" if self.least else "at most"

    def text(self, value: float) -> str:
        unit = f" {self.unit}".rstrip()
        return (
            f"{self.what}: {value:.3g}{unit}; bound {self.side} {self.bound:g}{unit},"
            f" goal {self.goal:g}{unit}"
        )


Value = tuple[Bar, float]


def past(values: Iterable[Value]) -> list[str]:
    return [bar.text(value) for bar, value in values if not bar.holds(value)]


def rows(experiment: str, values: Iterable[Value]) -> list[Row]:
    return [
        {
            "experiment": experiment,
            "bar": bar.what,
            "value": float(value),
            "unit": bar.unit,
            "side": bar.side,
            "bound": float(bar.bound),
            "goal": float(bar.goal),
        }
        for bar, value in values
    ]


def _short(value: float | str) -> str:
    return f"{float(value):.3g}"


COLUMNS = [
    Column("experiment", "experiment", left=True, key=True),
    Column("what", "bar", left=True, key=True),
    Column("value", "value", _short),
    Column("unit", "unit", left=True),
    Column("bound", lambda row: f"{row['side']} {_short(row['bound'])}", left=True),
    Column("goal", "goal", _short),
]
