"""Fits each measured machine's own numbers: the observations on which predictions rest.

    fitted(name) -> {key: [ns, deviation]}
                                     the machine's unknown numbers, from its own figures only
    write(names)                     renews the entries of these machines in observed.toml
    observations() -> list           the content of observed.toml, with slot, descent and clocks

A family's file has one value for all its members, fitted to all of them together.  A prediction
needs each machine's own value, in order to know how much members differ and to leave one out.  So
the numbers are fitted a second time, for each machine alone.

Every class has the same weight, and is compared pair by pair.  A number that the figures do not
determine stays near the value of its file (a normal prior with a deviation of one factor of e).
Each number is recorded with its deviation.  It is left out if the figures do not even halve the
variance of the prior.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from uncore import topology
from uncore.drawing.progress import progress
from uncore.errors import UserError
from uncore.topology.lineage import Descent
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import Matrix
from uncore_lab.figures.sample import Sample
from uncore_lab.fitting.numbers import (
    RATIO,
    FreeNumber,
    clocks,
    highest,
    lendable_numbers_of,
    settings,
    stepped,
)
from uncore_lab.fitting.solve import (
    DERIVATIVE_STEP_LOG,
    ClassTarget,
    FitPart,
    Vector,
    pairs_in_all,
    solve,
)

OBSERVED = Path(__file__).with_name("observed.toml")
OBSERVED_HEAD = """\
# What each machine's own figures say of its numbers, each with the standard deviation of its
# logarithm, in ns (ratios: as they are; of core.atomic and core.restart the sum).
# Written by `uncore predict --observe`; change figures/ or topologies/ instead.
"""

MODEL_RELATIVE_ERROR = 0.02  # error of a class median that remains with the best numbers
MAX_DEVIATION_LOG = 0.7  # half the variance of the prior remains
DEVIATION_DIGITS = 2
# step of a derivative, as a logarithm: wider than the jumps by an atomic's length (C4.1)
WIDE_STEP_LOG = 0.3


Fitted = dict[str, list[float]]  # {key: [value, deviation]}


@dataclass(frozen=True)
class Observation:
    """One fitted number of a measured machine, in every unit that the machine has."""

    machine: str
    slot: str
    descent: Descent
    values: Mapping[str, float]
    year: int | None = None  # year that its machine file states
    key: str = ""  # key in the machine file
    fitted: float = 0.0  # fitted value of that key: ns, or a ratio
    deviation: float = 0.0  # standard deviation of the logarithm of the fitted value


# ---- Fitting one machine -------------------------------------------------------------------------


def fitted(name: str, start: Mapping[str, FreeNumber] | None = None) -> Fitted:
    free_numbers = lendable_numbers_of(name) if start is None else start
    if not free_numbers:
        return {}
    solution = solve([_part(name, free_numbers)], prior=MODEL_RELATIVE_ERROR, stride=WIDE_STEP_LOG)
    # marks numbers at their limit, which the figures do not determine
    at_limit = solution.steps > np.array(highest(free_numbers)) - 2 * DERIVATIVE_STEP_LOG
    deviations = np.where(at_limit, np.inf, solution.deviations(MODEL_RELATIVE_ERROR))
    numbers = stepped(free_numbers, solution.steps)
    return {
        key: [value, float(deviation)]
        for (key, value), deviation in zip(numbers.items(), deviations, strict=True)
        if deviation < MAX_DEVIATION_LOG
    }


def _part(name: str, free_numbers: Mapping[str, FreeNumber]) -> FitPart:
    """Returns the part of the fit for one machine, which compares a sample of its pairs with the
    measured class medians.
    """
    machine, hardware = topology.load(name, measured=True), figures.read(name)
    sample, measured = Sample.of(machine, hardware), figures.matrix_of_figures(hardware, machine)

    def simulated(steps: Vector) -> Matrix:
        overrides = settings(stepped(free_numbers, steps), free_numbers)
        return sample.pairs(topology.load(name, overrides, measured=True))

    sampled_masks = pairs_in_all(sample.masks, measured, sample.pairs(machine))
    target = ClassTarget(measured, sampled_masks, medians=0, pairs=1)
    return FitPart(
        list(free_numbers), lambda steps: target.residuals(simulated(steps)), highest(free_numbers)
    )


# ---- The file ------------------------------------------------------------------------------------


def write(names: Sequence[str]) -> None:
    """Fits the named machines again and writes the file. The entries of other machines stay, unless
    these machines no longer count as measured.
    """
    measured_names, recorded = figures.well_measured(), _recorded_observations()
    fitted_numbers = {name: values for name, values in recorded.items() if name in measured_names}
    with progress(len(names), "observing", "machines") as advance:
        for name in names:
            fitted_numbers[name] = fitted(name)
            advance(1)
    lines = [OBSERVED_HEAD]
    for name in sorted(fitted_numbers):
        lines += [f"[{name}]", *(_line(key, *v) for key, v in fitted_numbers[name].items()), ""]
    try:
        OBSERVED.write_text("\n".join(lines))
    except OSError as error:
        raise UserError(f"{OBSERVED}: cannot be written: {error.strerror}") from None
    observations.cache_clear()


def _line(key: str, value: float, deviation: float) -> str:
    return f'"{key}" = [{value:.4g}, {deviation:.{DEVIATION_DIGITS}g}]'


def _recorded_observations() -> dict[str, Fitted]:
    try:
        return tomllib.loads(OBSERVED.read_text()) if OBSERVED.is_file() else {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{OBSERVED}: no observations: {error}") from None


@cache
def observations() -> list[Observation]:
    all_observations = []
    for name, values in _recorded_observations().items():
        free_numbers, periods = lendable_numbers_of(name), clocks(name)
        for key in values.keys() & free_numbers.keys():
            number = free_numbers[key]
            units = {RATIO: 1.0} if number.unit == RATIO else periods
            value, deviation = values[key]
            in_units = {unit: value / number.count / period for unit, period in units.items()}
            slot, descent, year = number.slot, number.descent, number.year
            all_observations.append(
                Observation(name, slot, descent, in_units, year, key, value, deviation)
            )
    return sorted(all_observations, key=lambda o: (o.slot, o.machine))
