"""A bar is a pair of limits on a result: a bound that must hold now, and a goal for later.

    Bar(what, bound, goal, unit, least).text(value)
    exceeded([(bar, value)])  the text of each value that exceeds its bound
    rows(experiment, values)  the rows of validation/results/bars.csv

Both limits are printed with the value.  The bound fails if a result gets worse; the goal shows how
far a result within its bound is from a good one.
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
    least: bool = False  # True: the value must be at least the bound; False: at most the bound

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


def exceeded(values: Iterable[Value]) -> list[str]:
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


def _three_digits(value: float | str) -> str:
    return f"{float(value):.3g}"


COLUMNS = [
    Column("experiment", "experiment", left=True, key=True),
    Column("what", "bar", left=True, key=True),
    Column("value", "value", _three_digits),
    Column("unit", "unit", left=True),
    Column("bound", lambda row: f"{row['side']} {_three_digits(row['bound'])}", left=True),
    Column("goal", "goal", _three_digits),
]
