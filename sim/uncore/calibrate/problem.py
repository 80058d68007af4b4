"""What a calibration minimises.

    Problem.of(machine, matrix path, keys) -> Problem
    problem.residuals(logs, choice, rounds)

The residuals are relative errors, simulated over measured less one:

  * of each class (the pairs of one level, on one side of the home) by its median, weight 1, so
    that a class of a thousand pairs weighs what one of ten does, and outliers nothing;
  * of each pair, weighted so that all pairs of a class together weigh PAIRS: they know which core
    is nearer to the home or to a slice.  Only where the machine declares structure ([unknowns]);
  * of each number, its logarithm's distance from the file's value times PRIOR: too weak to move
    what the matrix determines, but what it does not determine stays where it was.

Numbers are fitted as logarithms, so they stay positive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from uncore import topology
from uncore.errors import UserError, nearest
from uncore.predict.numbers import RATIO, UNKNOWN, Free, free, settings
from uncore.predict.sample import medians
from uncore.topology.machine import Machine
from uncore.validate import hardware as figures
from uncore.validate.hardware import Hardware, Matrix
from uncore.validate.simulate import handoffs

Vector = NDArray[np.float64]

PAIRS = 0.3
PRIOR = 0.003
LATENCY = re.compile(r"\d\s*(ps|ns|us|cy)(?!/)")
REACH = np.log(20)
MOST_RATIO = 10
LATENCIES = ("latency", "inject", "dx", "dy", "diagonal", "bridge")


@dataclass(frozen=True)
class Choice:
    """What was not recorded of the measurement: where its line was homed, which slice owned it."""

    home: str
    slice: str = "hash"
    settings: tuple[str, ...] = ()  # KEY=VALUE of a choice that is a key of the machine

    def __str__(self) -> str:
        return ", ".join([f"home {self.home}", f"slice {self.slice}", *self.settings])


@dataclass(frozen=True)
class Problem:
    name: str  # of the machine, or its file
    machine: Machine  # as it stands
    frees: dict[str, Free]
    measured: Matrix
    structured: bool

    @classmethod
    def of(cls, name: str, matrix: Path, keys: Sequence[str] = ()) -> Problem:
        machine = topology.load(name)
        found = free(name, keys or unknown(machine))
        if not found:
            raise UserError(f"{name}: has no number to fit; name some with --free KEY")
        measured = figures.measured_matrix(matrix, machine)
        if np.isnan(measured).all():
            raise UserError(f"{matrix}: has no latency of two CPUs of {machine.id}")
        return cls(name, machine, found, measured, bool(machine.unknowns))

    @property
    def start(self) -> Vector:
        return np.log([one.value for one in self.frees.values()])

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """A number is between a twentieth and twenty times the file's, a ratio less than its own
        limit."""
        ratios = np.array([one.unit == RATIO for one in self.frees.values()])
        reach = np.where(ratios, np.minimum(REACH, np.log(MOST_RATIO) - self.start), REACH)
        return self.start - REACH, self.start + reach

    def at(self, logs: Vector, choice: Choice) -> Machine:
        values = dict(zip(self.frees, np.exp(logs).tolist(), strict=True))
        return topology.load(self.name, [*choice.settings, *settings(values, self.frees)])

    def hardware(self, choice: Choice) -> Hardware:
        by_level = figures.by_level(self.machine, choice.home)
        return msgspec.structs.replace(by_level, slice=choice.slice)

    def simulated(self, logs: Vector, choice: Choice, rounds: int) -> Matrix:
        return handoffs(self.at(logs, choice), self.hardware(choice), rounds=rounds)

    def classes(self, ns: Matrix, choice: Choice) -> dict[str, float]:
        """Medians of the pairs that were measured."""
        known = ~np.isnan(self.measured)
        masks = self.hardware(choice).masks(self.machine)
        return medians(ns, {name: mask & known for name, mask in masks.items()})

    def errors(self, simulated: Matrix, choice: Choice) -> Vector:
        """Relative, of each class."""
        real, ours = self.classes(self.measured, choice), self.classes(simulated, choice)
        return np.array([ours[name] / real[name] - 1 for name in real])

    def residuals(self, logs: Vector, choice: Choice, rounds: int) -> Vector:
        simulated = self.simulated(logs, choice, rounds)
        parts = [self.errors(simulated, choice), PRIOR * (logs - self.start)]
        if self.structured:
            parts.append(self._pairs(simulated, choice))
        return np.concatenate(parts)

    def error(self, residuals: Vector) -> float:
        """Of a class, root mean square: whatever else there is of residuals is a class's too."""
        classes = len(self.machine.levels)
        return float(np.sqrt(np.sum(residuals**2) / classes))

    def structure(self, logs: Vector, choice: Choice, rounds: int) -> Vector:
        """How pairs differ from the median of their class, simulated less measured: of any numbers
        that are roughly right, because a median that is off takes its pairs with it."""
        simulated, off = self.simulated(logs, choice, rounds), []
        for mask in self.hardware(choice).masks(self.machine).values():
            pairs = mask & ~np.isnan(self.measured)
            real, ours = self.measured[pairs], simulated[pairs]
            if real.size > 1:
                found = ours / np.median(ours) - real / np.median(real)
                off.append(found / sqrt(real.size))
        return np.concatenate(off) if off else np.zeros(1)

    def _pairs(self, simulated: Matrix, choice: Choice) -> Vector:
        known = ~np.isnan(self.measured)
        weights = np.zeros_like(self.measured)
        for mask in self.hardware(choice).masks(self.machine).values():
            pairs = mask & known
            weights[pairs] = PAIRS / sqrt(max(1, int(np.count_nonzero(pairs))))
        seen = weights > 0
        found: Vector = (simulated[seen] / self.measured[seen] - 1) * weights[seen]
        return found


def unknown(machine: Machine) -> list[str]:
    """What its file calls fitted or predicted; in a file that has none, what joins cost, and an
    atomic."""
    numbers = [n for n in machine.numbers if not n.source.startswith("as ")]
    known = [n.key for n in numbers if n.source.startswith(UNKNOWN)]
    return known or [n.key for n in numbers if n.key == "core.atomic" or _of_join(n.key)]


def _of_join(key: str) -> bool:
    *_, table, name = ("", *key.split("."))
    return table == "join" and name in LATENCIES


def check_keys(machine: Machine, keys: Sequence[str]) -> None:
    known = {number.key: number.text for number in machine.numbers}
    for key in keys:
        if key not in known:
            raise UserError(
                f"--free {key}: {machine.id} has no such number.{nearest(key, known)} `uncore show"
                f" {machine.id} --keys` lists them"
            )
        if not key.endswith("_ratio") and not LATENCY.search(known[key]):
            raise UserError(
                f"--free {key}: {known[key]} is no latency; expected one, like core.atomic"
            )
