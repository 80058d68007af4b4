"""Expected ranges of claims, each with its precision.

The ranges:

    figure(242)             a number of the article, within a tenth
    about(1100)             a number given as "about", or with a tilde: within a fifth
    stated(20, 80)          a range that the article states
    exactly(4)              a count
    because(0, 0.1, why)    any other range, with its reason
"""

from __future__ import annotations

from dataclasses import dataclass

FIGURE_TOLERANCE, ABOUT_TOLERANCE = 0.1, 0.2  # relative tolerances in both directions


@dataclass(frozen=True)
class Range:
    low: float
    high: float
    why: str

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"expected a range from low to high, not {self.low} to {self.high}")

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high


def figure(number: float) -> Range:
    return _range_around(number, FIGURE_TOLERANCE, f"{number:.4g}, give or take a tenth")


def about(number: float) -> Range:
    return _range_around(number, ABOUT_TOLERANCE, f"about {number:.4g}, give or take a fifth")


def stated(low: float, high: float) -> Range:
    return Range(low, high, "the range that is stated")


def exactly(number: float) -> Range:
    return Range(number, number, "a count")


def because(low: float, high: float, why: str) -> Range:
    return Range(low, high, why)


def _range_around(number: float, tolerance: float, why: str) -> Range:
    return Range((1 - tolerance) * number, (1 + tolerance) * number, why)
