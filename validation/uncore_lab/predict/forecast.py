"""Predicts the class medians of a machine that nobody measured, each with an interval.

    forecast(name, hardware, known) -> Forecast
    predicted(name, home) -> Forecast, home         from all that is known but of itself

`hardware` says which pairs are a class and where the line is homed; its figures are not looked at.
Numbers come from relatives (relatives.py) or are guesses (guesses.py); all that are uncertain are
drawn together, a Latin hypercube of DRAWS machines, and the engine says what each of these shows.
Their medians, with what two measurements of one model differ by, are what is thought of a class;
each machine has a seed of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from random import Random
from typing import Any

from uncore import topology
from uncore.execution.request import usual_seeds
from uncore_lab.figures.hardware import Hardware, by_level
from uncore_lab.figures.sample import Sample
from uncore_lab.fitting.numbers import MAX_RATIO, RATIO, Free, clocks, free
from uncore_lab.predict.copied import copied
from uncore_lab.predict.guesses import Guess, guesses
from uncore_lab.predict.mixture import Mixture
from uncore_lab.predict.observe import Observation, observations
from uncore_lab.predict.relatives import Loan, lend

INTERVAL_SHARE = 0.8  # share of the true values that an interval should hold
MEASUREMENT_DEVIATION = 0.04  # two owners' machines of one model differ by 0.5 to 14 %
DRAWS = 32
# a seed for each draw, which also draws the slice of the line (V10)
SEEDS = usual_seeds("native", DRAWS)
# a guess that moves a class median by less than this, relatively, does not matter to it
MIN_CLASS_MOVE = 0.02

Settings = Callable[[float], list[str]]


@dataclass(frozen=True)
class PredictedClass:
    """A predicted class median, in ns."""

    name: str
    belief: Mixture
    lent: bool  # False: a guess of the machine's file moves this median
    # False: a number moves it that was fitted to the machine's own figures, and nobody lends
    blind: bool
    # name of the machine whose number is copied where lending does no better (copied.py)
    copied: str = ""

    @property
    def ns(self) -> float:
        return self.belief.median

    @property
    def low(self) -> float:
        return self.belief.interval(INTERVAL_SHARE)[0]

    @property
    def high(self) -> float:
        return self.belief.interval(INTERVAL_SHARE)[1]

    def row(self) -> dict[str, Any]:
        ends = {"ns": self.ns, "low": self.low, "high": self.high}
        return {"name": self.name, **ends, "lent": self.lent, "copied": self.copied}


@dataclass(frozen=True)
class Forecast:
    machine: str
    classes: Mapping[str, PredictedClass]
    loans: Sequence[Loan]
    guesses: Sequence[Guess]


def forecast(name: str, hardware: Hardware, known: Sequence[Observation]) -> Forecast:
    """Forecasts from these observations alone; the machine's own must not be among them."""
    machine, periods = topology.load(name, measured=True), clocks(name)
    stated = {number.key for number in machine.numbers if number.interval}
    frees = {key: one for key, one in free(name).items() if key not in stated}
    loans = [loan for one in frees.values() if (loan := lend(one, periods, known))]
    guessed = guesses(name, known, frozenset(loan.key for loan in loans))
    sample = Sample.of(machine, hardware)

    def medians(settings: Sequence[str], seed: int) -> dict[str, float]:
        return sample.medians(topology.load(name, settings, measured=True), (seed,))

    lent = {loan.key: (loan.belief, _bounded(frees[loan.key])) for loan in loans}
    unsure = lent | {guess.key: (guess.factor, guess.settings) for guess in guessed}
    draws = [medians(one, seed) for one, seed in zip(_hypercube(unsure), SEEDS, strict=True)]
    weights = (1 / len(draws),) * len(draws)
    beliefs = {
        label: Mixture(tuple(log(draw[label]) for draw in draws), weights, MEASUREMENT_DEVIATION)
        for label in draws[0]
    }
    resting = _resting(medians, lent, guessed)
    known_already = _resting(medians, lent, [guess for guess in guessed if guess.fitted])
    classes = {
        label: PredictedClass(label, one, label not in resting, label not in known_already)
        for label, one in beliefs.items()
    }
    return Forecast(name, classes, loans, guessed)


def predicted(name: str, home: str = "") -> tuple[Forecast, str]:
    """Forecasts the classes of the machine's levels from all other machines. Also returns the home
    of the line, empty if memory is one node.
    """
    machine = topology.load(name)
    several = len(machine.memories) > 1
    hardware = by_level(machine, home or ("node0" if several else ""))
    known = [one for one in observations() if one.machine != machine.id]
    found = forecast(name, hardware, known)
    classes = {
        label: replace(found.classes[label], belief=copy.belief, copied=copy.of)
        for label, copy in copied(name, machine, hardware.classes).items()
        if found.classes[label].lent  # else its file says otherwise than any relative
    }
    return replace(found, classes={**found.classes, **classes}), hardware.home if several else ""


def _bounded(one: Free) -> Settings:
    most = MAX_RATIO if one.unit == RATIO else float("inf")
    return lambda value: one.settings(min(value, most))


def _hypercube(unsure: Mapping[str, tuple[Mixture, Settings]]) -> list[list[str]]:
    """Settings of each drawn machine: every part of a number's distribution is met once, in an
    order that follows from its key."""
    columns = []
    for key, (belief, settings) in unsure.items():
        parts = list(range(DRAWS))
        Random(key).shuffle(parts)
        columns.append([settings(belief.quantile((part + 0.5) / DRAWS)) for part in parts])
    return [[text for column in columns for text in column[n]] for n in range(DRAWS)]


def _resting(
    medians: Callable[[Sequence[str], int], dict[str, float]],
    lent: Mapping[str, tuple[Mixture, Settings]],
    guessed: Sequence[Guess],
) -> set[str]:
    """Returns the classes that move when all guesses do, by a deviation each."""
    if not guessed:
        return set()
    fixed = [text for belief, settings in lent.values() for text in settings(belief.median)]

    def at(deviations: float) -> dict[str, float]:
        factors = [(guess, exp(deviations * guess.factor.deviation)) for guess in guessed]
        return medians([*fixed, *(t for one, by in factors for t in one.settings(by))], SEEDS[0])

    as_filed, moved = at(0), at(1)
    return {label for label in moved if abs(log(moved[label] / as_filed[label])) > MIN_CLASS_MOVE}
