"""What a machine that nobody measured will show: its class medians, each with an interval.

    forecast(name, hardware, known) -> Forecast
    predicted(name, home) -> Forecast, home         from all that is known but of itself

`hardware` says which pairs are a class and where the line is homed; its figures are not looked at.
Numbers come from relatives (relatives.py), the classes from the engine.  A class's logarithm is all
but linear in those of the numbers, so its deviation is the slopes (finite differences) times the
numbers' deviations, with that of two measurements of one model on top, and that of the slice which
owns a measured line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import variance

from uncore import topology
from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import Hardware, by_level
from uncore_lab.figures.sample import Sample
from uncore_lab.fitting.numbers import Free, clocks, free, settings
from uncore_lab.fitting.written import WIDTH
from uncore_lab.predict.observe import Observation, observations
from uncore_lab.predict.relatives import STRANGER, Loan, lend

SHARE = 0.8  # of the true values that an interval should hold
HANDS = 0.04  # the same model in two hands differs by 0.5 to 14 %
STEP = 0.05  # of a number, for the slopes
MOVES = 0.02  # slope from which a number matters to a class


@dataclass(frozen=True)
class Class:
    """A predicted class median, in ns."""

    name: str
    ns: float
    low: float
    high: float
    lent: bool  # False: a number that moves it kept the value of its file


@dataclass(frozen=True)
class Forecast:
    machine: str
    classes: Mapping[str, Class]
    loans: Sequence[Loan]
    unlent: Mapping[str, float]  # what keeps its file's value, as no machine has such a part:
    # key -> deviation


def forecast(name: str, hardware: Hardware, known: Sequence[Observation]) -> Forecast:
    """From these observations alone; the machine's own must not be among them."""
    frees, periods = free(name), clocks(name)
    loans = {key: lend(one, periods, known) for key, one in frees.items()}
    lent = {key: loan for key, loan in loans.items() if loan}
    classes = _classes(name, hardware, frees, lent)
    unlent = {key: kept_deviation(one) for key, one in frees.items() if key not in lent}
    return Forecast(name, classes, list(lent.values()), unlent)


def predicted(name: str, home: str = "") -> tuple[Forecast, str]:
    """By the classes of its levels; and where the line is homed, if memory has several nodes."""
    machine = topology.load(name)
    several = len(machine.memories) > 1
    hardware = by_level(machine, home or ("node0" if several else ""))
    known = [one for one in observations() if one.machine != machine.id]
    return forecast(name, hardware, known), hardware.home if several else ""


def kept_deviation(one: Free) -> float:
    """Of a number that keeps its file's value: by the interval that the file states, if any."""
    return STRANGER if one.deviation is None else one.deviation


def _classes(
    name: str, hardware: Hardware, frees: Mapping[str, Free], lent: Mapping[str, Loan]
) -> dict[str, Class]:
    values = {key: loan.value for key, loan in lent.items()}
    sample = Sample.of(topology.load(name, measured=True), hardware)

    def machine(changed: Mapping[str, float]) -> Machine:
        return topology.load(name, settings({**values, **changed}, frees), measured=True)

    base, kept = sample.medians(machine({})), set[str]()
    each = sample.measurements(machine({}))
    variances = {label: HANDS**2 + variance(log(ns[label]) for ns in each) for label in base}
    for key, one in frees.items():
        loan = lent.get(key)
        moved = sample.medians(machine({key: values.get(key, one.value) * exp(STEP)}))
        slopes = {label: log(moved[label] / base[label]) / STEP for label in base}
        deviation = loan.deviation if loan else kept_deviation(one)
        for label, slope in slopes.items():
            variances[label] += (slope * deviation) ** 2
            if not loan and abs(slope) > MOVES:
                kept.add(label)
    return {
        label: Class(label, ns, *_interval(ns, variances[label]), lent=label not in kept)
        for label, ns in base.items()
    }


def _interval(ns: float, variance: float) -> tuple[float, float]:
    half = WIDTH * sqrt(variance)
    return ns * exp(-half), ns * exp(half)
