"""A run's steady state: its rate without warm-up and without the end, where harts are missing.

    steady(pace)        operations a second, and whether much of the run was left out
    apart(pace)         by how much its halves differ
    interval(values)    the confidence interval of the median of what they are drawn from

The first quarter and the last eighth are left out in any case.  Of the rest MSER-5 cuts what else
is warm-up: of the spans' counts in batches of five, so many of the first are dropped, at most a
third, that the standard error of the mean of the others is least (White, An effective truncation
heuristic for bias reduction in simulation output, Simulation 69, 1997; White, Cobb and Spratt,
2000).  From the end it cuts what is done while threads become fewer.

The interval is of order statistics, so it holds for any distribution: as often as of n fair coins
between k and n - k show heads.  Rates have few values where a lock goes round in one order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import fmean

from msgspec import Struct

LEVEL = 95  # per cent of intervals, at least, that hold the median
FIRST_PART, LAST_PART = 4, 8  # one part in so many is left out
BATCH, CUT = 5, 3  # spans; of their batches one in so many may be cut from an end
ENOUGH = 3  # a steady state is at least a part in so many
LEAST = 20  # operations in a steady state


class Pace(Struct, frozen=True):
    """When operations were done, by spans of time."""

    entered: int  # ps: when the last hart began what is measured
    left: int  # when the first one ended it
    span: int  # length of each
    first: int  # number of the first: it begins at first * span
    spans: list[tuple[int, int]]  # operations, and when the last of them was done


def steady(pace: Pace) -> tuple[float | None, bool]:
    """Operations a second while all harts are there, from an operation's end to another's, None
    where they hardly are; and whether little of that time is steady."""
    end, window = _window(pace)
    if sum(operations for operations, _ in window[1:]) < LEAST:
        return None, True
    return _rate(window), window[-1][1] - window[0][1] < end * pace.span / ENOUGH


def apart(pace: Pace) -> float:
    """By how much the halves of the steady state differ, as a part of its rate; 0: there is none.

    Where they differ as much as runs do, longer runs differ less."""
    _, window = _window(pace)
    half = len(window) // 2
    if half < 2:
        return 0.0
    return (_rate(window[: half + 1]) - _rate(window[half:])) / _rate(window)


def _window(pace: Pace) -> tuple[int, list[tuple[int, int]]]:
    """The run's spans until the first hart ends, and those of its steady state in which something
    was done."""
    end = min(pace.left // pace.span - pace.first, len(pace.spans))
    begin = max(0, -(-pace.entered // pace.span) - pace.first)
    if begin > end / 2:
        return end, []
    window = pace.spans[begin + (end - begin) // FIRST_PART : end - (end - begin) // LAST_PART]
    counts = [operations for operations, _ in window]
    window = window[BATCH * warm_up(counts) :]
    counts = [operations for operations, _ in reversed(window)]
    return end, [span for span in window[: len(window) - BATCH * warm_up(counts)] if span[0]]


def _rate(window: Sequence[tuple[int, int]]) -> float:
    done = sum(operations for operations, _ in window[1:])
    return done / (window[-1][1] - window[0][1]) * 1e12


def warm_up(counts: Sequence[int]) -> int:
    """MSER-5: how many batches of the first to drop."""
    starts = range(0, len(counts) - BATCH + 1, BATCH)
    batches = [sum(counts[at : at + BATCH]) for at in starts]

    def error(dropped: int) -> float:
        rest = batches[dropped:]
        mean = fmean(rest)
        return sum((batch - mean) ** 2 for batch in rest) / len(rest) ** 2

    return min(range(len(batches) // CUT + 1), key=error) if batches else 0


def interval(values: Sequence[float], further: int = 0) -> tuple[float, float]:
    """The narrowest that holds the median at LEVEL; of too few values the least and the greatest.

    `further`: without so many more at either end.
    """
    ordered = sorted(values)
    dropped = max(0, _rank(len(ordered)) - 1) + further
    return ordered[dropped], ordered[-1 - dropped]


def _rank(count: int) -> int:
    """Of the interval's ends, from either side; 0 where there is none."""
    beyond, rank = 1.0, 0
    while beyond / 2**count <= (1 - LEVEL / 100) / 2:
        rank += 1
        beyond += comb(count, rank)
    return rank
