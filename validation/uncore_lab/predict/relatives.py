"""Predicts a number that was never measured from related machines, which "lend" theirs.

    lend(borrower, clocks, known) -> Loan           the number's distribution, and its lenders
    spreads(known) -> [Spread]                      differences of near relatives in each kind of
                                                    number, in each unit

A loan is a mixture with a component for each of the nearest relatives and each unit, weighted by
how well relatives agree in the unit.  Two different kinds of relatives give two peaks.  Distances
are those of descents (topology/lineage.py), and each part of a machine has its own descent.  Among
equally near relatives each generation has one vote, which its members share.  A vote is halved for
each year between the lender and the borrower (years.toml, or the file's own `year`).  A part of
unknown year counts as later than all lenders.

The width of a component comes from pairs of machines at the same distance, and from the lender's
own deviation.  A line is a kind of number together with the first two words of descent.  Each line
that has such pairs shows how much they differ, and all lines have the same weight, whatever their
number of pairs.  So the number of a single lender of a new line is as uncertain as lines usually
are; the more machines a line has, the more its own pairs count.

Invariant: the loan uses nothing but the given observations, so it does not know a machine whose
observations are left out.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import hypot, log, pi, sqrt
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec

from uncore.topology.lineage import Descent, nearness
from uncore_lab.fitting.numbers import NS, RATIO, UNITS, FreeNumber
from uncore_lab.predict.mixture import Mixture
from uncore_lab.predict.observe import Observation

YEARS = Path(__file__).with_name("years.toml")
MAX_DISTANCE_WORDS = 3  # larger distances between two descents are counted as this distance
NEAR_DISTANCE_WORDS = 1  # largest distance between two machines of one family or generation
LINE_WORDS = 2  # number of first words of descent that two parts of one line have in common
FILE_UNIT_ODDS = 9  # odds of the file's unit against another one, before relatives are compared
MIN_PAIRS_FOR_UNIT = 3  # least number of pairs with which units are compared
PRIOR_MACHINES = 2  # weight of the usual deviation of all lines, as a number of machines
# median of |x - y| of two normal values, in standard deviations
MEDIAN_DIFFERENCE = 0.6745 * sqrt(2)
MEAN_DIFFERENCE = 2 / sqrt(pi)  # mean of |x - y| of two normal values, in standard deviations
MIN_LOAN_DEVIATION = 0.02
# Differences between relatives are taken from numbers whose own deviation is at most this large.
MAX_COMPARED_DEVIATION = 0.3
# standard deviation of the logarithm of a number without a measured relative: four of five such
# numbers are right within a factor of 1.6
UNMEASURED_DEVIATION = 0.35

Pair = tuple[Observation, Observation]


@dataclass(frozen=True)
class Loan:
    """A predicted number."""

    key: str
    belief: Mixture  # distribution of the number, with its summand, in ns or as a ratio
    value: float  # median of the number alone, in ns or as a ratio
    amount: float  # the same in `unit`
    unit: str  # the unit with the largest weight
    machines: tuple[str, ...]  # machines that lend the number
    shared: Descent  # words of descent that all lenders share with the borrower

    def row(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "value": self.value,
            "amount": self.amount,
            "unit": self.unit,
            "deviation": self.belief.deviation,
            "machines": list(self.machines),
            "shared": list(self.shared),
        }


@dataclass(frozen=True)
class Spread:
    """The differences of one kind of number (`slot`) between near relatives: the standard deviation
    of the logarithm, for values in each unit.
    """

    slot: str
    pairs: int
    deviations: Mapping[str, float]
    machines: int  # number of machines in these pairs


def lend(
    borrower: FreeNumber, clocks: Mapping[str, float], known: Sequence[Observation]
) -> Loan | None:
    """Returns the loan of a number from relatives; None if no machine has such a part."""
    with_slot = [
        o for o in known if o.slot == borrower.slot and nearness(o.descent, borrower.descent)
    ]
    if not with_slot:
        return None
    closest = max(nearness(o.descent, borrower.descent) for o in with_slot)
    lenders = [o for o in with_slot if nearness(o.descent, borrower.descent) == closest]
    units = _units(borrower, clocks, lenders, known)
    scales = {unit: clocks.get(unit, 1.0) * borrower.count for unit in units}
    weights = _weights(borrower, lenders, closest)
    widths = _widths(borrower, units, lenders, _voices(borrower, lenders, closest, weights), known)
    components = [
        (log(o.values[unit] * scales[unit]), share * weight, hypot(widths[unit], o.deviation))
        for unit, share in units.items()
        for o, weight in zip(lenders, weights, strict=True)
    ]
    belief, unit = Mixture(*zip(*components, strict=True)), max(units, key=units.__getitem__)
    value = borrower.alone(belief.median)
    return Loan(
        key=borrower.key,
        belief=belief,
        value=value,
        amount=value / scales[unit],
        unit=unit,
        machines=tuple(o.machine for o in lenders),
        shared=borrower.descent[:closest],
    )


def _widths(
    borrower: FreeNumber,
    units: Iterable[str],
    lenders: Sequence[Observation],
    voices: Collection[float],
    known: Sequence[Observation],
) -> dict[str, float]:
    """Returns the deviation of each lender's number from the borrower's, in each unit. Independent
    lenders of one number reduce it.
    """
    distance = min(_distance_of(borrower.descent, o.descent) for o in lenders)
    ratio = sqrt(2 * sum(voice**2 for voice in voices))
    return {
        unit: max(MIN_LOAN_DEVIATION, ratio * _deviation(borrower, unit, distance, known))
        for unit in units
    }


def _units(
    borrower: FreeNumber,
    clocks: Mapping[str, float],
    lenders: list[Observation],
    known: Sequence[Observation],
) -> dict[str, float]:
    """Returns the units in which to lend, each with its share. Shares are the posterior
    probabilities of the units, if the differences of near relatives are normal in the right unit,
    with as many independent differences as there are machines but one.
    """
    if borrower.unit == RATIO:
        return {RATIO: 1.0}
    usable = [u for u in UNITS if u in clocks and all(u in o.values for o in lenders)]
    written = borrower.unit if borrower.unit in usable else NS
    near = spread(borrower.slot, known)
    if written not in near.deviations:
        return {written: 1.0}
    odds = {
        unit: (FILE_UNIT_ODDS if unit == written else 1)
        * max(near.deviations[unit], MIN_LOAN_DEVIATION) ** (1 - near.machines)
        for unit in usable
        if unit in near.deviations
    }
    return {unit: share / sum(odds.values()) for unit, share in odds.items()}


def _weights(
    borrower: FreeNumber, lenders: Sequence[Observation], closest: int
) -> tuple[float, ...]:
    """Returns the weight of each lender. Each generation has one vote, which is halved for every
    year between the generation and the borrower. A lender whose figures left a share of the prior's
    variance loses this share of its vote.
    """
    years = [_year(o.descent) or o.year for o in lenders]
    beyond = borrower.descent[closest:]
    latest = max((year for year in years if year), default=None)
    borrower_year = (
        _year(beyond) or borrower.year or (latest if beyond else _year(borrower.descent))
    )
    members = Counter(o.descent[closest:] for o in lenders)
    votes = [
        (0.5 ** abs(borrower_year - year) if borrower_year and year else 1.0)
        / members[o.descent[closest:]]
        * (1 - o.deviation**2)
        for o, year in zip(lenders, years, strict=True)
    ]
    return tuple(vote / sum(votes) for vote in votes)


def _voices(
    borrower: FreeNumber, lenders: Sequence[Observation], closest: int, weights: Sequence[float]
) -> Collection[float]:
    """Returns the weights of independent lenders. Machines of the borrower's own generation are
    independent. Machines of another generation have a common difference from the borrower, so they
    count as one lender.
    """
    if len(borrower.descent) == closest and all(len(o.descent) == closest for o in lenders):
        return weights
    voices: dict[Descent, float] = {}
    for o, weight in zip(lenders, weights, strict=True):
        beyond = o.descent[closest:]
        voices[beyond] = voices.get(beyond, 0.0) + weight
    return voices.values()


def _year(descent: Descent) -> int | None:
    """Returns the year of the last word of the descent that has one, which is the year of the first
    product with this word.
    """
    return next((_years()[word] for word in reversed(descent) if word in _years()), None)


@cache
def _years() -> dict[str, int]:
    return msgspec.convert(tomllib.loads(YEARS.read_text()), dict[str, int])


# ---- Differences between relatives ---------------------------------------------------------------


def spreads(known: Sequence[Observation]) -> list[Spread]:
    return [spread(slot, known) for slot in dict.fromkeys(o.slot for o in known)]


def spread(slot: str, known: Sequence[Observation]) -> Spread:
    """Computes the spread over pairs within a family or generation. A unit is left out if one of
    the machines does not have it.
    """
    near_pairs = [
        pair
        for pair in _pairs(slot, known)
        if _distance_of(pair[0].descent, pair[1].descent) <= NEAR_DISTANCE_WORDS
    ]
    units = [u for u in (*UNITS, RATIO) if all(u in o.values for pair in near_pairs for o in pair)]
    comparable = len(near_pairs) >= MIN_PAIRS_FOR_UNIT
    deviations = {u: _typical(near_pairs, u) for u in units} if comparable else {}
    machines = len({o.machine for pair in near_pairs for o in pair})
    return Spread(slot, len(near_pairs), deviations, machines)


def _deviation(
    borrower: FreeNumber, unit: str, distance: int, known: Sequence[Observation]
) -> float:
    """Returns the standard deviation of the logarithm of a number among machines at this distance
    in words. It is the usual deviation at this distance, times the mean ratio by which the number's
    own line exceeds the usual deviation at this and smaller distances.
    """
    usual = _usual_deviations(known)
    pairs = [
        pair
        for (slot, line, pair_distance), pairs in _lines(known).items()
        if slot == borrower.slot
        and line == borrower.descent[:LINE_WORDS]
        and pair_distance <= max(distance, NEAR_DISTANCE_WORDS)
        for pair in pairs
        if all(unit in o.values for o in pair)
    ]
    machines = max(0, len({o.machine for pair in pairs for o in pair}) - 1)
    relative_differences = [
        abs(_log_ratio(*p, unit)) / usual[_distance_of(p[0].descent, p[1].descent)] for p in pairs
    ]
    line_variances = (
        (fmean(relative_differences) / MEAN_DIFFERENCE) ** 2 * machines
        if relative_differences
        else 0.0
    )
    return usual[distance] * sqrt((line_variances + PRIOR_MACHINES) / (machines + PRIOR_MACHINES))


def _usual_deviations(known: Sequence[Observation]) -> list[float]:
    """Returns the deviation of a number of an unknown line at each distance: the root of the mean
    variance of all lines. It never decreases with the distance.
    """
    deviations: list[float] = []
    for distance in range(MAX_DISTANCE_WORDS + 1):
        variances = [
            (fmean(abs(_log_ratio(*p, _first_unit(p))) for p in pairs) / MEAN_DIFFERENCE) ** 2
            for (_, _, pair_distance), pairs in _lines(known).items()
            if pair_distance == distance
        ]
        deviations.append(
            max(
                [
                    sqrt(fmean(variances)) if variances else UNMEASURED_DEVIATION,
                    MIN_LOAN_DEVIATION,
                    *deviations[-1:],
                ]
            )
        )
    return deviations


def _lines(
    known: Sequence[Observation],
) -> dict[tuple[str, Descent, int], list[Pair]]:
    """Groups pairs of machines by kind of number, line of parts, and distance."""
    lines: dict[tuple[str, Descent, int], list[Pair]] = {}
    for slot in dict.fromkeys(o.slot for o in known):
        for first, second in _pairs(slot, known):
            line = first.descent[:LINE_WORDS]
            if line == second.descent[:LINE_WORDS]:
                key = (slot, line, _distance_of(first.descent, second.descent))
                lines.setdefault(key, []).append((first, second))
    return lines


def _first_unit(pair: Pair) -> str:
    return next(unit for unit in (NS, RATIO) if unit in pair[0].values)


def _typical(pairs: Iterable[Pair], unit: str) -> float:
    """Estimates a standard deviation from the median difference, which ignores a few outliers."""
    return median(abs(_log_ratio(a, b, unit)) for a, b in pairs) / MEDIAN_DIFFERENCE


def _log_ratio(first: Observation, second: Observation, unit: str) -> float:
    return log(first.values[unit] / second.values[unit])


def _pairs(slot: str, known: Sequence[Observation]) -> list[Pair]:
    compared = [o for o in known if o.slot == slot and o.deviation <= MAX_COMPARED_DEVIATION]
    return list(combinations(compared, 2))


def _distance_of(first: Descent, second: Descent) -> int:
    """Returns the number of words of the longer descent that are not common to both."""
    return min(MAX_DISTANCE_WORDS, max(len(first), len(second)) - nearness(first, second))
