"""A number that was never measured, from machines where it was.

    lend(free, clocks, observations) -> Loan        the value, how sure, and whose it is
    spreads(observations) -> [Spread]               which clock a number follows: the finding

A number takes the median of its nearest relatives, in the unit in which relatives differ least.
Nearness is by descent (topology/lineage.py), each part of a machine by its own; among relatives as
near, one whose generation is nearer in time weighs more (years.toml).  How sure it is
comes from pairs of machines that are as far apart, whatever the number (their logarithms differ by
sqrt(2) standard deviations), and from how much more or less than others this kind of number
differs.

Invariant: nothing is used of a machine but the observations given; leave its own out, and the loan
cannot know it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import log, sqrt
from pathlib import Path
from statistics import median

import msgspec
import numpy as np

from uncore.topology.lineage import Descent, nearness
from uncore_lab.fitting.numbers import NS, RATIO, UNITS, Free
from uncore_lab.predict.observe import Observation

YEARS = Path(__file__).with_name("years.toml")
FARTHEST = 3  # words that two descents may differ in and still be told apart by it
NEAR = 1  # words' difference of near relatives: one family, or one generation of it
BETTER = 0.7  # of the file's unit's spread: another unit must be so much better to be taken
FEW = 3  # pairs: on fewer no unit is judged
BORROWED = 2  # pairs' worth of being like all other numbers, in every kind of number
NORMAL = 0.6745 * sqrt(2)  # median of the absolute difference of two, in standard deviations
LEAST = 0.02  # no loan is surer
STRANGER = 0.35  # where nothing was measured: a guess, right within a factor of 1.6 in four of five


@dataclass(frozen=True)
class Loan:
    """A predicted number."""

    key: str
    value: float  # ns, or a ratio
    amount: float  # in `unit`
    unit: str
    deviation: float  # of its logarithm
    machines: tuple[str, ...]  # whose median it is
    shared: Descent  # what they have in common with the borrower


@dataclass(frozen=True)
class Spread:
    """How much a kind of number differs between near relatives, in each unit."""

    slot: str
    pairs: int
    deviations: Mapping[str, float]


def lend(free: Free, clocks: Mapping[str, float], known: Sequence[Observation]) -> Loan | None:
    """None: no machine has such a part."""
    alike = [o for o in known if o.slot == free.slot and nearness(o.descent, free.descent)]
    if not alike:
        return None
    closest = max(nearness(o.descent, free.descent) for o in alike)
    lenders = [o for o in alike if nearness(o.descent, free.descent) == closest]
    unit = _unit(free, clocks, lenders, known)
    amount = _median([(o.values[unit], _weight(o.descent, free.descent)) for o in lenders])
    away = _away(free.descent, closest)
    single = _deviation(free.slot, unit, away, known)
    return Loan(
        key=free.key,
        value=amount * clocks.get(unit, 1.0) * free.count,
        amount=amount,
        unit=unit,
        deviation=max(LEAST, single * sqrt(1 + 1 / len(lenders))),
        machines=tuple(o.machine for o in lenders),
        shared=free.descent[:closest],
    )


def _away(descent: Descent, shared: int) -> int:
    return min(FARTHEST, len(descent) - shared)


def _unit(
    free: Free,
    clocks: Mapping[str, float],
    lenders: list[Observation],
    known: Sequence[Observation],
) -> str:
    """The file's own, unless another is clearly better over all near relatives."""
    if free.unit == RATIO:
        return RATIO
    usable = [u for u in UNITS if u in clocks and all(u in o.values for o in lenders)]
    written = free.unit if free.unit in usable else NS
    deviations = spread(free.slot, known).deviations
    if written not in deviations:
        return written
    best = min((u for u in usable if u in deviations), key=lambda u: deviations[u])
    return best if deviations[best] < BETTER * deviations[written] else written


def _median(weighed: Iterable[tuple[float, float]]) -> float:
    """The weighted median: where half of the weight is reached, a value's own in its middle."""
    ordered = sorted(weighed)
    values, weights = (np.array(column) for column in zip(*ordered, strict=True))
    reached = (np.cumsum(weights) - weights / 2) / weights.sum()
    return float(np.interp(0.5, reached, values))


def _weight(descent: Descent, other: Descent) -> float:
    """Halved by a year between two generations, a third after two; 1 where a year is not known."""
    one, two = _year(descent), _year(other)
    return 1 / (1 + abs(one - two)) if one and two else 1.0


def _year(descent: Descent) -> int | None:
    """The first product's, of the most special word that has one."""
    return next((_years()[word] for word in reversed(descent) if word in _years()), None)


@cache
def _years() -> dict[str, int]:
    return msgspec.convert(tomllib.loads(YEARS.read_text()), dict[str, int])


# ---- How far relatives differ --------------------------------------------------------------------


def spreads(known: Sequence[Observation]) -> list[Spread]:
    return [spread(slot, known) for slot in dict.fromkeys(o.slot for o in known)]


def spread(slot: str, known: Sequence[Observation]) -> Spread:
    """Over pairs of one family or generation; in a unit only if all of them have it."""
    near = [pair for pair in _pairs(slot, known) if _apart(*pair) <= NEAR]
    units = [u for u in (*UNITS, RATIO) if all(u in o.values for pair in near for o in pair)]
    enough = len(near) >= FEW
    return Spread(slot, len(near), {u: _typical(near, u) for u in units} if enough else {})


def _deviation(slot: str, unit: str, away: int, known: Sequence[Observation]) -> float:
    """Of one machine's logarithm, among machines so far apart: what is usual at that distance,
    times how much more than usual this kind of number differs there and nearer."""
    usual = [_of_all(distance, known) for distance in range(FARTHEST + 1)]
    pairs = [p for p in _pairs(slot, known) if _apart(*p) <= max(away, NEAR)]
    own = [p for p in pairs if all(unit in o.values for o in p)]
    far = [abs(_apart_by(*p, unit)) / usual[_apart(*p)] for p in own]
    mine = (median(far) / NORMAL) ** 2 * len(own) if own else 0.0
    return usual[away] * sqrt((mine + BORROWED) / (len(own) + BORROWED))


def _of_all(away: int, known: Sequence[Observation]) -> float:
    """Over all slots, each in nanoseconds; never less than among nearer ones."""
    found = 0.0
    for distance in range(away + 1):
        pairs = [
            pair
            for slot in dict.fromkeys(o.slot for o in known)
            for pair in _pairs(slot, known)
            if _apart(*pair) == distance and NS in pair[0].values
        ]
        found = max(found, _typical(pairs, NS) if len(pairs) >= FEW else 0.0)
    return found or STRANGER


def _typical(pairs: Iterable[tuple[Observation, Observation]], unit: str) -> float:
    """A standard deviation that a few strangers among the machines do not decide."""
    return median(abs(_apart_by(a, b, unit)) for a, b in pairs) / NORMAL


def _apart_by(one: Observation, other: Observation, unit: str) -> float:
    return log(one.values[unit] / other.values[unit])


def _pairs(slot: str, known: Sequence[Observation]) -> list[tuple[Observation, Observation]]:
    return list(combinations([o for o in known if o.slot == slot], 2))


def _apart(one: Observation, other: Observation) -> int:
    longest = max(len(one.descent), len(other.descent))
    return _away(
        one.descent + ("",) * (longest - len(one.descent)), nearness(one.descent, other.descent)
    )
