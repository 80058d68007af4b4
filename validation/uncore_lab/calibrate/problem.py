"""The least-squares problem that a calibration solves.

    Problem.load(machine, matrix path, keys) -> Problem
    problem.solve(choice, rounds, ...) -> Solution      how: uncore_lab/fitting/solve.py

The residuals are:

  * for each class (the pairs of one level, on one side of the home), the relative error of its
    median, simulated / measured - 1;
  * for each pair, its relative error, with less weight, if the machine declares structure
    ([unknowns]);
  * for each number, PRIOR_WEIGHT times ln(number / the file's value).  This weight is too small to
    change a number that the matrix determines; other numbers stay at the file's value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import msgspec
import numpy as np

from uncore import topology
from uncore.errors import UserError, suggestion
from uncore.topology.machine import Machine
from uncore_lab.calibrate.order import find, map_of, renamed
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.additive_parts import sliced_level
from uncore_lab.figures.hardware import Hardware, Mask, Matrix
from uncore_lab.figures.sample import medians
from uncore_lab.figures.simulate import handoffs
from uncore_lab.fitting.numbers import (
    FreeNumber,
    free_numbers_of,
    highest,
    is_unknown,
    settings,
    stepped,
)
from uncore_lab.fitting.solve import (
    MAX_EVALUATIONS,
    PAIRS_WEIGHT,
    ClassTarget,
    FitPart,
    Solution,
    Vector,
    pairs_in_all,
    solve,
)

PRIOR_WEIGHT = 0.003
LATENCY_TEXT = re.compile(r"\d\s*(ps|ns|us|cy)(?!/)")
LATENCY_KEYS = ("latency", "inject", "dx", "dy", "diagonal", "bridge")


@dataclass(frozen=True)
class UnrecordedChoice:
    """Facts that the measurement did not record: the home of its line, the slice that owned the
    line, and others.
    """

    home: str
    slice: str = "hash"
    settings: tuple[str, ...] = ()  # KEY=VALUE of the other unknowns, which are keys of the machine
    # KEY=VALUE of a `map` that places the cores in another order than the machine's file
    order: str = ""

    @property
    def overrides(self) -> list[str]:
        return [*self.settings, *([self.order] if self.order else [])]

    def __str__(self) -> str:
        lines = [_line(setting) for setting in self.overrides]
        return ", ".join([f"home {self.home}", f"slice {self.slice}", *lines])


def _line(setting: str) -> str:
    key, _, value = setting.partition("=")
    return f"{key}={' / '.join(line.strip() for line in value.strip().splitlines())}"


@dataclass(frozen=True)
class Problem:
    name: str  # machine name, or path of its file
    machine: Machine  # with the numbers of its file
    free_numbers: dict[str, FreeNumber]
    measured: Matrix
    # True: pairs count beside their class median, because the machine has [unknowns]
    fits_pairs: bool

    @classmethod
    def load(cls, name: str, matrix: Path, keys: Sequence[str] = ()) -> Problem:
        machine = topology.load(name, measured=True)
        numbers = free_numbers_of(name, keys or unknown(machine))
        if not numbers:
            raise UserError(f"{name}: has no number to fit; name some with --free KEY")
        measured = figures.measured_matrix(matrix, machine)
        if np.isnan(measured).all():
            raise UserError(f"{matrix}: has no latency of two CPUs of {machine.id}")
        return cls(name, machine, numbers, measured, bool(machine.unknowns))

    def machine_with(self, steps: Vector, choice: UnrecordedChoice) -> Machine:
        """Returns the machine with each free number multiplied by the exponential of its step."""
        fitted = settings(stepped(self.free_numbers, steps), self.free_numbers)
        return topology.load(self.name, [*choice.overrides, *fitted], measured=True)

    def hardware(self, choice: UnrecordedChoice) -> Hardware:
        by_level = figures.by_level(self.machine, choice.home)
        return msgspec.structs.replace(by_level, slice=choice.slice)

    def masks(self, choice: UnrecordedChoice) -> dict[str, Mask]:
        """Returns the measured pairs of each class."""
        return pairs_in_all(self.hardware(choice).masks(self.machine), self.measured)

    def simulated(self, steps: Vector, choice: UnrecordedChoice, rounds: int) -> Matrix:
        machine = self.machine_with(steps, choice)
        return handoffs(machine, self.hardware(choice), rounds=rounds)

    def classes(self, ns: Matrix, choice: UnrecordedChoice) -> dict[str, float]:
        return medians(ns, self.masks(choice))

    def solve(
        self,
        choice: UnrecordedChoice,
        rounds: int,
        begin: Vector | None = None,
        most: int = MAX_EVALUATIONS,
    ) -> Solution:
        target = ClassTarget(
            self.measured, self.masks(choice), pairs=PAIRS_WEIGHT if self.fits_pairs else 0
        )

        def residuals(steps: Vector) -> Vector:
            return target.residuals(self.simulated(steps, choice, rounds))

        part = FitPart(list(self.free_numbers), residuals, highest(self.free_numbers))
        return solve([part], PRIOR_WEIGHT, begin, most)

    def error(self, residuals: Vector) -> float:
        """Returns the root mean square of the residuals of the classes' medians."""
        return float(np.sqrt(np.sum(residuals**2) / len(self.machine.levels)))

    def order(self) -> tuple[str, str] | None:
        """Returns the slice that the matrix shows to be the owner, and the map as KEY=VALUE; None
        if the matrix does not show the order.
        """
        map_text = map_of(self.name, self.machine)
        order_ = find(self.machine, self.measured) if map_text else None
        if not order_:
            return None
        return str(
            order_.owner
        ), f"{sliced_level(self.machine)}.join.map={renamed(map_text, order_)}"

    def structure(self, steps: Vector, choice: UnrecordedChoice, rounds: int) -> Vector:
        """Returns, for every pair, its simulated minus its measured relative difference from the
        median of its class. The result is meaningful as soon as the numbers are roughly right,
        because an error of the median shifts all pairs of the class equally.
        """
        simulated, differences = self.simulated(steps, choice, rounds), []
        for pairs in self.masks(choice).values():
            measured_ns, simulated_ns = self.measured[pairs], simulated[pairs]
            difference = simulated_ns / np.median(simulated_ns) - measured_ns / np.median(
                measured_ns
            )
            differences.append(difference / sqrt(measured_ns.size))
        return np.concatenate(differences)


def unknown(machine: Machine) -> list[str]:
    """Returns the keys of the numbers to fit: those that the file calls fitted or predicted. If
    there are none, these are the latencies of joins and of an atomic.
    """
    numbers = [n for n in machine.numbers if not n.source.startswith("as ")]
    declared = [n.key for n in numbers if is_unknown(n)]
    return declared or [n.key for n in numbers if n.key == "core.atomic" or _of_join(n.key)]


def _of_join(key: str) -> bool:
    *_, table, name = ("", *key.split("."))
    return table == "join" and name in LATENCY_KEYS


def check_keys(machine: Machine, keys: Sequence[str]) -> None:
    stated = {number.key: number.text for number in machine.numbers}
    for key in keys:
        if key not in stated:
            raise UserError(
                f"--free {key}: {machine.id} has no such number.{suggestion(key, stated)}"
                f" `uncore show {machine.id} --keys` lists them"
            )
        if not key.endswith("_ratio") and not LATENCY_TEXT.search(stated[key]):
            raise UserError(
                f"--free {key}: {stated[key]} is no latency; expected one, like core.atomic"
            )
