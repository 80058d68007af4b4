"""What a user wants drawn of results (chart.py draws it), and which figures there are.

Wanted(x="hold", y=("p99",))     axes by the names of their options
figure(name)                     where a row has it, what its axis is called, and its divisor
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from uncore.errors import UserError, nearest

FIGURES: Mapping[str, tuple[str, str, float]] = {  # name -> key of a row, axis, divisor
    "throughput": ("throughput", "million operations per second", 1e6),
    "p50": ("latency.p50_ps", "median latency, us", 1e6),
    "p90": ("latency.p90_ps", "latency of 90 % of operations at most, us", 1e6),
    "p99": ("latency.p99_ps", "latency of 99 % of operations at most, us", 1e6),
    "max": ("latency.max_ps", "longest latency, us", 1e6),
    "fairness": ("fairness", "slowest thread's rate over the fastest's", 1),
}


@dataclass(frozen=True)
class Wanted:
    """Axes by the names of their options; none: threads, or the one thing that varies."""

    x: str = ""
    y: Sequence[str] = ("throughput",)
    heat: tuple[str, str] | None = None
    facet: str = ""


def figure(name: str) -> tuple[str, str, float]:
    if name not in FIGURES:
        names = ", ".join(FIGURES)
        raise UserError(f"--y {name}: expected some of {names}.{nearest(name, FIGURES)}")
    return FIGURES[name]
