"""Fits the numbers of machine files to the matrices of several machines together.

    prepare(name, matrices) -> Fit
    solve(fits) -> {place: step}        logarithms of factors, fitted to all machines together
    fitted_text(number, step) -> text        the fitted number as text of the machine file
    scored_with(fit, steps) -> HandoffScore

Only numbers with `source = "fitted ..."` change.  If several machines share a number, because it is
stated in a file that all of them read, it changes by the same factor in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

from uncore import topology
from uncore.errors import UncoreError
from uncore.topology.machine import Machine, Number
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import Hardware, Mask, Matrix
from uncore_lab.figures.simulate import handoffs
from uncore_lab.fitting import solve as least
from uncore_lab.fitting.numbers import (
    FreeNumber,
    free_numbers_of,
    highest,
    scaled,
    settings,
    stepped,
)
from uncore_lab.validate.score import HandoffScore, free_number_keys, score

# file and line that state a number; machines that read the same place share the number
Place = tuple[str, int]

FIT_ROUNDS = 25  # handoff rounds of a pair; few suffice, because all take the same time
FIT_EVALUATIONS = 10  # limit; evaluations for derivatives are not counted


@dataclass(frozen=True)
class Fit:
    """A machine, its free numbers, and the matrix to which they are fitted."""

    machine: Machine  # the machine with the present numbers of its file
    hardware: Hardware
    measured: Matrix
    free_numbers: dict[str, FreeNumber]
    masks: Mapping[str, Mask]  # the pairs that are compared, by class
    overrides: tuple[str, ...] = ()  # KEY=VALUE of numbers that this fit does not choose

    @property
    def name(self) -> str:
        return self.machine.id

    @property
    def numbers(self) -> dict[str, Number]:
        return {number.key: number for number in self.machine.numbers}

    @property
    def places(self) -> list[Place]:
        return [(self.numbers[key].file, self.numbers[key].line) for key in self.free_numbers]

    def machine_with(self, steps: Iterable[float]) -> Machine:
        fitted = settings(stepped(self.free_numbers, steps), self.free_numbers)
        return topology.load(self.name, [*self.overrides, *fitted], measured=True)

    def simulated(self, steps: Iterable[float]) -> Matrix:
        return handoffs(self.machine_with(steps), self.hardware, rounds=FIT_ROUNDS)

    def part(self) -> least.FitPart:
        target = least.ClassTarget(self.measured, self.masks)

        def residuals(steps: least.Vector) -> least.Vector:
            return target.residuals(self.simulated(steps))

        return least.FitPart(self.places, residuals, highest(self.free_numbers))

    def own_steps(self, steps_by_place: Mapping[Place, float]) -> list[float]:
        return [steps_by_place[place] for place in self.places]


def solve(fits: Sequence[Fit]) -> dict[Place, float]:
    """Fits all machines together; returns the logarithm of the factor of each number."""
    solution = least.solve([fit.part() for fit in fits], most=FIT_EVALUATIONS)
    steps = dict(zip(solution.keys, solution.steps.tolist(), strict=True))
    return {place: steps[place] for fit in fits for place in fit.places}


def prepare(name: str, matrices: Path | None) -> Fit:
    machine, hardware = topology.load(name, measured=True), figures.read(name)
    if matrices:
        measured = figures.measured_matrix(matrices / f"{name}.csv", machine)
    else:
        measured = figures.matrix_of_figures(hardware, machine)
    masks = least.pairs_in_all(hardware.masks(machine), measured)
    return Fit(machine, hardware, measured, free_numbers_of(name, free_number_keys(machine)), masks)


def scored_with(fit: Fit, steps: Sequence[float]) -> HandoffScore:
    simulated = fit.simulated(steps)
    return score(fit.machine_with(steps), fit.hardware, fit.measured, simulated, "fit")


def fitted_text(number: Number, step: float) -> str:
    text = scaled(number.text, exp(step))
    if not text:
        raise UncoreError(
            f"{number.key} = {number.text}: only one amount with one unit can be fitted"
        )
    return text
