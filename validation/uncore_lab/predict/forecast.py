"""Predicts the class medians of a machine that nobody measured, each with an interval.

    forecast(name, hardware, known) -> Forecast
    predicted(name, home) -> Forecast, home         from all that is known of other machines

`hardware` gives the pairs of each class and the home of the line; its figures are not used. Numbers
come from relatives (relatives.py) or are guesses (guesses.py).  All uncertain numbers are drawn
together, as a Latin hypercube of DRAWS machines, each with its own seed.  The engine simulates each
machine.  The prediction of a class is the distribution of its simulated medians, widened by the
usual difference between two measured machines of the same model.
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
from uncore_lab.fitting.numbers import MAX_RATIO, RATIO, FreeNumber, clocks, lendable_numbers_of
from uncore_lab.predict.copied import copied
from uncore_lab.predict.guesses import Guess, guesses
from uncore_lab.predict.mixture import Mixture
from uncore_lab.predict.observe import Observation, observations
from uncore_lab.predict.relatives import Loan, lend

INTERVAL_SHARE = 0.8  # share of the true values that should lie in the intervals
# standard deviation of the logarithm; two machines of the same model differ by 0.5 to 14 %
MEASUREMENT_DEVIATION = 0.04
DRAWS = 32
# one seed for each drawn machine; the seed also draws the slice that owns the line (V10)
SEEDS = usual_seeds("native", DRAWS)
# A class rests on guesses if changing them by one deviation changes the class median by this share.
MIN_CLASS_MOVE = 0.02

Settings = Callable[[float], list[str]]


@dataclass(frozen=True)
class PredictedClass:
    """A class median in ns, as predicted."""

    name: str
    belief: Mixture
    lent: bool  # False: the median depends on a guess in the machine's file
    # False: the median depends on a number that no relative lends, and that was fitted to the
    # machine's own figures
    blind: bool
    # machines whose number is copied, because lending predicts the class no better (copied.py)
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
    """Forecasts from the observations in `known`, which must not include any of the machine."""
    machine, periods = topology.load(name, measured=True), clocks(name)
    stated = {number.key for number in machine.numbers if number.interval}
    free_numbers = {
        key: number for key, number in lendable_numbers_of(name).items() if key not in stated
    }
    loans = [loan for number in free_numbers.values() if (loan := lend(number, periods, known))]
    guessed = guesses(name, known, frozenset(loan.key for loan in loans))
    sample = Sample.of(machine, hardware)

    def medians(settings: Sequence[str], seed: int) -> dict[str, float]:
        return sample.medians(topology.load(name, settings, measured=True), (seed,))

    lent = {loan.key: (loan.belief, _bounded_settings(free_numbers[loan.key])) for loan in loans}
    uncertain = lent | {guess.key: (guess.factor, guess.settings) for guess in guessed}
    draws = [
        medians(settings, seed) for settings, seed in zip(_hypercube(uncertain), SEEDS, strict=True)
    ]
    weights, spreads = (1 / len(draws),) * len(draws), (MEASUREMENT_DEVIATION,) * len(draws)
    beliefs = {
        label: Mixture(tuple(log(draw[label]) for draw in draws), weights, spreads)
        for label in draws[0]
    }
    resting_on_guesses = _classes_resting_on_guesses(medians, lent, guessed)
    resting_on_fitted = _classes_resting_on_guesses(
        medians, lent, [guess for guess in guessed if guess.fitted]
    )
    classes = {
        label: PredictedClass(
            label, belief, label not in resting_on_guesses, label not in resting_on_fitted
        )
        for label, belief in beliefs.items()
    }
    return Forecast(name, classes, loans, guessed)


def predicted(name: str, home: str = "") -> tuple[Forecast, str]:
    """Forecasts the classes of the machine's levels from all other machines. Also returns the home
    of the line, which is "" if the machine has one memory node.
    """
    machine = topology.load(name)
    several = len(machine.memories) > 1
    hardware = by_level(machine, home or ("node0" if several else ""))
    known = [observation for observation in observations() if observation.machine != machine.id]
    predicted_classes = forecast(name, hardware, known)
    classes = {
        label: replace(predicted_classes.classes[label], belief=copy.belief, copied=copy.machines)
        for label, copy in copied(name, machine, hardware.classes).items()
        # A class that rests on values of the machine's own file is not lent, and not copied either.
        if predicted_classes.classes[label].lent
    }
    return replace(
        predicted_classes, classes={**predicted_classes.classes, **classes}
    ), hardware.home if several else ""


def _bounded_settings(number: FreeNumber) -> Settings:
    max_value = MAX_RATIO if number.unit == RATIO else float("inf")
    return lambda value: number.settings(min(value, max_value))


def _hypercube(uncertain: Mapping[str, tuple[Mixture, Settings]]) -> list[list[str]]:
    """Returns the settings of each drawn machine. The distribution of each number is split into
    DRAWS equal parts. Each part is used once, in an order that depends only on the number's key.
    """
    columns = []
    for key, (belief, settings) in uncertain.items():
        parts = list(range(DRAWS))
        Random(key).shuffle(parts)
        columns.append([settings(belief.quantile((part + 0.5) / DRAWS)) for part in parts])
    return [[text for column in columns for text in column[draw]] for draw in range(DRAWS)]


def _classes_resting_on_guesses(
    medians: Callable[[Sequence[str], int], dict[str, float]],
    lent: Mapping[str, tuple[Mixture, Settings]],
    guessed: Sequence[Guess],
) -> set[str]:
    """Returns the classes whose median changes if all guesses are changed by one deviation."""
    if not guessed:
        return set()
    fixed = [text for belief, settings in lent.values() for text in settings(belief.median)]

    def medians_at(deviations: float) -> dict[str, float]:
        factors = [(guess, exp(deviations * guess.factor.deviation)) for guess in guessed]
        return medians(
            [
                *fixed,
                *(t for guess, factor_of_guess in factors for t in guess.settings(factor_of_guess)),
            ],
            SEEDS[0],
        )

    as_filed, shifted = medians_at(0), medians_at(1)
    return {
        label for label in shifted if abs(log(shifted[label] / as_filed[label])) > MIN_CLASS_MOVE
    }
