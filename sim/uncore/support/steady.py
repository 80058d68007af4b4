"""The steady state of a run (W2), and the interval of the rates of several runs (W4).

    steady(pace)          the operations and the length of its steady state
    halves_apart(pace)    the difference between its halves
    interval(values)      the confidence interval of the median of what they are drawn from

The native engine has the steady state from observe/steady.hh; this is the reference engine's.
MSER-5 is White, An effective truncation heuristic for bias reduction in simulation output,
Simulation 69, 1997; White, Cobb and Spratt, 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from statistics import fmean, stdev

from msgspec import Struct

LEVEL = 95  # per cent of intervals, at least, that hold the median
FIRST_PART, LAST_PART = 4, 8  # one part in so many is left out
BATCH, CUT = 5, 3  # spans; of their batches one in so many may be cut from an end
MIN_STEADY_OPERATIONS = 20
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}  # two-sided at LEVEL, by the number of values


class Pace(Struct, frozen=True):
    """When operations were done, by spans of time."""

    entered: int  # ps: when the last hart began what is measured
    left: int  # when the first one ended it
    span: int  # length of each
    first: int  # number of the first: it begins at first * span
    spans: list[tuple[int, int]]  # operations, and when the last of them was done
    cold_misses: int = 0  # lines that memory sent for the first time, in what is measured


def steady(pace: Pace) -> tuple[int, int] | None:
    """Operations of the steady state and its length in ps, from an operation's end to another's;
    None where all threads hardly work together."""
    window = _window(pace)
    done = sum(operations for operations, _ in window[1:])
    return (done, window[-1][1] - window[0][1]) if done >= MIN_STEADY_OPERATIONS else None


def halves_apart(pace: Pace) -> float:
    """The difference between the rates of the steady state's halves, as a part of its rate; 0 where
    there is none.

    Where they differ as much as runs do, longer runs differ less."""
    window = _window(pace)
    half = len(window) // 2
    if half < 2:
        return 0.0
    return (_rate(window[: half + 1]) - _rate(window[half:])) / _rate(window)


def _window(pace: Pace) -> list[tuple[int, int]]:
    """The spans of the steady state in which something was done."""
    end = min(max(0, pace.left // pace.span - pace.first), len(pace.spans))
    begin = max(0, -(-pace.entered // pace.span) - pace.first)
    if 2 * begin > end:
        return []
    window = pace.spans[begin + (end - begin) // FIRST_PART : end - (end - begin) // LAST_PART]
    window = window[BATCH * warm_up([operations for operations, _ in window]) :]
    counts = [operations for operations, _ in reversed(window)]
    return [span for span in window[: len(window) - BATCH * warm_up(counts)] if span[0]]


def _rate(window: Sequence[tuple[int, int]]) -> float:
    done = sum(operations for operations, _ in window[1:])
    return done / (window[-1][1] - window[0][1]) * 1e12


def warm_up(counts: Sequence[int]) -> int:
    """MSER-5: the number of first batches to drop.

    The squared standard error of the mean of n batches of sum s and sum of squares q is
    (n q - s^2) / n^3."""
    starts = range(0, len(counts) - BATCH + 1, BATCH)
    batches = [sum(counts[at : at + BATCH]) for at in starts]

    def squared_error(dropped: int) -> Fraction:
        rest = batches[dropped:]
        squares = sum(batch * batch for batch in rest)
        return Fraction(len(rest) * squares - sum(rest) ** 2, len(rest) ** 3)

    return min(range(len(batches) // CUT + 1), key=squared_error) if batches else 0


def interval(values: Sequence[float], further: int = 0) -> tuple[float, float]:
    """The narrowest that holds the median at LEVEL (W4): of order statistics, so for any
    distribution; of few values Student's.

    `further`: without so many more at either end.
    """
    ordered = sorted(values)
    if len(ordered) in STUDENT and not further:
        half = STUDENT[len(ordered)] * stdev(ordered) / len(ordered) ** 0.5
        return fmean(ordered) - half, fmean(ordered) + half
    dropped = max(0, _rank(len(ordered)) - 1) + further
    return ordered[dropped], ordered[-1 - dropped]


def _rank(count: int) -> int:
    """Rank of the interval's ends, counted from either side; 0 if there is none."""
    beyond, rank = 1.0, 0
    while beyond / 2**count <= (1 - LEVEL / 100) / 2:
        rank += 1
        beyond += comb(count, rank)
    return rank
