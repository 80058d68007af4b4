"""Tries values for the numbers that the machines of a family share. A trial compares matrices,
loads of lines that another core holds, and locks.

    read(name) -> MachineFamily          a table of figures/families.toml
    present_values(family) -> Overrides  present values of its `numbers`, which trials change
    evaluate(family, chosen) -> Trial    errors of each kind of figure with other values

For each trial, the remaining numbers are fitted to the matrices of the family's machines
(joint.py).  So handoffs always fit as well as possible, and the errors of loads and locks decide
between trials.

Invariant: a host's locks are simulated with numbers of its family only.
"""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf, log
from pathlib import Path

import msgspec

from uncore import topology
from uncore.errors import UncoreError
from uncore.topology.follow import followers
from uncore.topology.machine import Number
from uncore_lab.figures import FAMILIES
from uncore_lab.figures.hardware import part
from uncore_lab.figures.simulate import MATRIX_SEEDS
from uncore_lab.fitting.numbers import scaled
from uncore_lab.validate import directory, joint, lockhammer
from uncore_lab.validate.lock_curves import LockPoint, measure
from uncore_lab.validate.lockhammer import PRIMITIVES, Spot

Overrides = dict[str, str]

# weights of the kinds of figures, roughly in proportion to their numbers of points
KIND_WEIGHTS = {"handoffs": 1.0, "loads": 1.0, "locks": 3.0}
# In the mean, |ln(simulated / measured)| of a point counts at most this much, because no numbers
# fit the points with only two siblings.
MAX_POINT_ERROR_LOG = 0.5
# a trial is rejected if |ln(simulated / measured)| of some load is larger
MAX_LOAD_ERROR_LOG = log(1 + directory.LOAD_WORST_BAR.bound / 100)


class MachineFamily(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of families.toml; the file explains the keys."""

    numbers: list[str]
    machines: list[str]
    loads: list[str]
    locks: list[str]


@dataclass(frozen=True)
class Trial:
    """Values of a family's numbers, and the errors of each kind of figure with them."""

    chosen: Overrides
    determined: Overrides  # the numbers that were fitted to the matrices
    kind_errors: Mapping[str, float]  # mean |ln(simulated / measured)| of each kind
    loads: Sequence[float]  # ln(simulated / measured) of each load
    points: Sequence[LockPoint]

    @property
    def sum(self) -> float:
        if any(abs(load) > MAX_LOAD_ERROR_LOG for load in self.loads):
            return inf
        return sum(KIND_WEIGHTS[kind] * off for kind, off in self.kind_errors.items())

    @property
    def overrides(self) -> Overrides:
        return self.chosen | self.determined


@cache
def families() -> dict[str, MachineFamily]:
    return msgspec.convert(tomllib.loads(FAMILIES.read_text()), dict[str, MachineFamily])


def read(name: str) -> MachineFamily:
    if name not in families():
        raise UncoreError(f"{name}: expected one of {', '.join(families())}")
    return families()[name]


@cache
def numbers_of(machine: str) -> dict[str, Number]:
    return {number.key: number for number in topology.load(machine, measured=True).numbers}


def present_values(family: MachineFamily) -> Overrides:
    numbers = numbers_of(family.machines[0])
    return {key: numbers[key].text for key in family.numbers}


def evaluate(
    family: MachineFamily, chosen: Overrides, cores: int = 1, seeds: tuple[int, ...] = MATRIX_SEEDS
) -> Trial:
    settings_ = tuple(f"{key}={value}" for key, value in chosen.items())
    fits = [replace(joint.prepare(name, None), overrides=settings_) for name in family.machines]
    solution = joint.solve(fits)
    determined = dict(entry for fit in fits for entry in _family_values(fit, solution))
    overrides = chosen | determined
    points = [point for name in family.locks for point in _locks(name, overrides, cores, seeds)]
    kinds = {
        "handoffs": [
            log(ratio) for fit in fits for ratio in _medians(fit, fit.own_steps(solution))
        ],
        "loads": [log(ratio) for name in family.loads for ratio in _loads(name, overrides)],
        "locks": [log(p.simulated.median / p.spot.measured.median) for p in points],
    }
    off = {kind: _mean_capped_error(logarithms) for kind, logarithms in kinds.items() if logarithms}
    return Trial(chosen, determined, off, kinds["loads"], points)


def _mean_capped_error(logarithms: Sequence[float]) -> float:
    return statistics.fmean(min(abs(logarithm), MAX_POINT_ERROR_LOG) for logarithm in logarithms)


def _family_values(
    fit: joint.Fit, solution: Mapping[joint.Place, float]
) -> Iterator[tuple[str, str]]:
    """Yields the key and the new value of each fitted number in the family's file, and of each
    number that follows it.
    """
    numbers, steps = fit.numbers, fit.own_steps(solution)
    for key, place, step in zip(fit.free_numbers, fit.places, steps, strict=True):
        if Path(place[0]).parent.name == "families":
            new = joint.fitted_text(numbers[key], step)
            yield key, new
            for follower, ratio in followers(numbers[key], tuple(numbers.values())):
                yield follower.key, scaled(new, ratio)


def _medians(fit: joint.Fit, steps: Sequence[float]) -> Iterator[float]:
    """Yields the ratio of the simulated to the measured median for each distance class."""
    for measured, simulated in joint.scored_with(fit, steps).medians.values():
        yield simulated / measured


def _loads(name: str, overrides: Overrides) -> Iterator[float]:
    machine = topology.load(name, [f"{key}={value}" for key, value in overrides.items()])
    for case, measured in part(name, "directory", directory.DirectoryFigures).known().items():
        yield directory.simulated(machine, directory.CASES[case]) / measured


def _locks(
    name: str, overrides: Overrides, cores: int, seeds: tuple[int, ...]
) -> Sequence[LockPoint]:
    counts = [count for count in lockhammer.read(name).doubling() if count > 1]
    spots = [Spot(name, primitive, 0, 0, count) for primitive in PRIMITIVES for count in counts]
    return measure(spots, cores, overrides, seeds=seeds)
