"""Finds the steady state of a run (W2), and the interval of the rates of several runs (W4).

    steady(pace)                  the operations and the length of the steady state
    difference_of_halves(pace)    the difference between the rates of its halves
    interval(values)              the confidence interval of the median of the values' distribution

The native engine computes the steady state in observe/steady.hh; the reference engine uses this.
MSER-5 is White, An effective truncation heuristic for bias reduction in simulation output,
Simulation 69, 1997; White, Cobb and Spratt, 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from statistics import fmean, stdev

from msgspec import Struct

CONFIDENCE_PERCENT = 95  # at least this share of all intervals contains the true median
# The steady state excludes 1/START_CUT_DIVISOR of the measured time at its start, and
# 1/END_CUT_DIVISOR at its end.
START_CUT_DIVISOR, END_CUT_DIVISOR = 4, 8
# number of spans in a batch; at most 1/MAX_CUT_DIVISOR of the batches are dropped at either end
BATCH_SPANS, MAX_CUT_DIVISOR = 5, 3
MIN_STEADY_OPERATIONS = 20
# Student's t, two-sided at CONFIDENCE_PERCENT, by the number of values
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}


class Pace(Struct, frozen=True):
    """Operations over time, counted in equal spans."""

    entered: int  # time in ps at which the last hart began the measured part
    left: int  # time in ps at which the first hart ended it
    span: int  # length of a span in ps
    first: int  # number of the first span, which begins at first * span
    spans: list[tuple[int, int]]  # operations, and the time at which the last of them ended
    cold_misses: int = 0  # lines that memory sent for the first time during the measured part


def steady(pace: Pace) -> tuple[int, int] | None:
    """Returns the number of operations and the length in ps of the steady state, which lasts from
    the end of one operation to the end of another.

    Returns None if all threads work at the same time for less than MIN_STEADY_OPERATIONS.
    """
    window = _window(pace)
    operations_done = sum(operations for operations, _ in window[1:])
    return (
        (operations_done, window[-1][1] - window[0][1])
        if operations_done >= MIN_STEADY_OPERATIONS
        else None
    )


def difference_of_halves(pace: Pace) -> float:
    """Returns the difference between the rates of the steady state's halves, relative to its rate.

    Returns 0 if there is no steady state.  If halves differ as much as different runs do, longer
    runs would differ less.
    """
    window = _window(pace)
    half = len(window) // 2
    if half < 2:
        return 0.0
    return (_rate(window[: half + 1]) - _rate(window[half:])) / _rate(window)


def _window(pace: Pace) -> list[tuple[int, int]]:
    """Returns the spans of the steady state in which some operation ended."""
    end = min(max(0, pace.left // pace.span - pace.first), len(pace.spans))
    begin = max(0, -(-pace.entered // pace.span) - pace.first)
    if 2 * begin > end:
        return []
    window = pace.spans[
        begin + (end - begin) // START_CUT_DIVISOR : end - (end - begin) // END_CUT_DIVISOR
    ]
    window = window[BATCH_SPANS * warm_up([operations for operations, _ in window]) :]
    counts = [operations for operations, _ in reversed(window)]
    return [span for span in window[: len(window) - BATCH_SPANS * warm_up(counts)] if span[0]]


def _rate(window: Sequence[tuple[int, int]]) -> float:
    operations_done = sum(operations for operations, _ in window[1:])
    return operations_done / (window[-1][1] - window[0][1]) * 1e12


def warm_up(counts: Sequence[int]) -> int:
    """Returns the number of batches to drop at the start, by the rule MSER-5.

    The squared standard error of the mean of n batches of sum s and sum of squares q is
    (n q - s^2) / n^3.
    """
    starts = range(0, len(counts) - BATCH_SPANS + 1, BATCH_SPANS)
    batches = [sum(counts[at : at + BATCH_SPANS]) for at in starts]

    def squared_error(dropped: int) -> Fraction:
        remaining = batches[dropped:]
        squares = sum(batch * batch for batch in remaining)
        return Fraction(len(remaining) * squares - sum(remaining) ** 2, len(remaining) ** 3)

    return min(range(len(batches) // MAX_CUT_DIVISOR + 1), key=squared_error) if batches else 0


def interval(values: Sequence[float], further_dropped: int = 0) -> tuple[float, float]:
    """Returns the narrowest interval that holds the median with confidence CONFIDENCE_PERCENT (W4).

    Its ends are order statistics, valid for any distribution; for few values it is Student's
    interval. `further_dropped` drops that many more values at either end.
    """
    ordered = sorted(values)
    if len(ordered) in STUDENT and not further_dropped:
        half = STUDENT[len(ordered)] * stdev(ordered) / len(ordered) ** 0.5
        return fmean(ordered) - half, fmean(ordered) + half
    dropped = max(0, _rank(len(ordered)) - 1) + further_dropped
    return ordered[dropped], ordered[-1 - dropped]


def _rank(count: int) -> int:
    """Returns the largest r such that the r-th smallest and the r-th largest of `count` values
    bound the median with the confidence; 0 if `count` is too small.
    """
    tail_sum, rank = 1.0, 0
    while tail_sum / 2**count <= (1 - CONFIDENCE_PERCENT / 100) / 2:
        rank += 1
        tail_sum += comb(count, rank)
    return rank
