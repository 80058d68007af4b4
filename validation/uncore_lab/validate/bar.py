"""Bounds that hold today, beside what they are to become.

    Bar(what, bound, goal, unit, least).told(value)      past([(bar, value)]) -> what does not hold

A bound that nothing keeps says nothing, and a bound without its goal calls any result good: so both
are stated, and a section's notes print both beside the value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    what: str
    bound: float
    goal: float
    unit: str
    least: bool = False  # the value is to be at least so large; else at most

    def holds(self, value: float) -> bool:
        return value >= self.bound if self.least else value <= self.bound

    def told(self, value: float) -> str:
        side = "at least" if self.least else "at most"
        return (
            f"{self.what}: {value:.1f} {self.unit}; bound {side} {self.bound:g} {self.unit},"
            f" goal {self.goal:g} {self.unit}"
        )


def past(found: Iterable[tuple[Bar, float]]) -> list[str]:
    return [bar.told(value) for bar, value in found if not bar.holds(value)]
