"""Finds the differences between pairs of a matrix that repeat, so that a model could show them.

    levels(machine, measured) -> {level: Repeat}
    by_level(machine, measured) -> a matrix with the median of its level for every pair, a baseline

A model of places can only show what places decide; the other differences are noise, for which the
level's median is the best guess.  So each reading is guessed from the other readings of the same
cores.  If siblings give several readings of the same two cores, the guess is their mean; otherwise
it is the sum of what each of the two cores adds in its pairs with others.  If that is clearly
better than the level's median, the level has structure, and a simulation must beat the median.

Invariant: no reading takes part in its own guess.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import Mask, Matrix, level_of_pairs

# least gain over guessing the median, as a share of the median's error; pure noise gains nothing
MIN_GAIN_SHARE = 0.1

Vector = NDArray[np.float64]
Cores = NDArray[np.int64]  # the two cores of each reading


class Repeat(NamedTuple):
    """The pairs of a level, and the mean error in per cent of two guesses of them."""

    pairs: Mask
    from_median: float
    from_others: float

    @property
    def has_structure(self) -> bool:
        return self.from_others < (1 - MIN_GAIN_SHARE) * self.from_median


def levels(machine: Machine, measured: Matrix) -> dict[str, Repeat]:
    level, median = level_of_pairs(machine), by_level(machine, measured)
    repeats = {}
    for name in machine.levels:
        pairs = (level == name) & ~np.isnan(measured)
        if pairs.any():
            cores = np.array(machine.hart_cores)[np.argwhere(pairs)]
            guess = _from_others(measured[pairs], cores, median[pairs])
            repeats[name] = Repeat(
                pairs, mean_error(median, measured, pairs), _off(guess, measured[pairs])
            )
    return repeats


def by_level(machine: Machine, ns: Matrix) -> Matrix:
    level, constant = level_of_pairs(machine), np.full_like(ns, np.nan)
    for name in np.unique(level):
        pairs = (level == name) & ~np.isnan(ns)
        if pairs.any():
            constant[pairs] = np.median(ns[pairs])
    return constant


def mean_error(guess: Matrix, truth: Matrix, pairs: Mask) -> float:
    return _off(guess[pairs], truth[pairs])


def _off(guess: Vector, truth: Vector) -> float:
    return 100 * float(np.mean(abs(guess / truth - 1)))


def _from_others(ns: Vector, cores: Cores, otherwise: Vector) -> Vector:
    """Guesses each reading from other readings of the same two cores; if there are none, takes the
    value in `otherwise`.
    """
    _, which, counts = np.unique(cores, axis=0, return_inverse=True, return_counts=True)
    other_readings = counts[which] - 1
    if not other_readings.any():
        return _sums(ns, cores, otherwise)
    other_mean = (np.bincount(which, ns)[which] - ns) / np.maximum(other_readings, 1)
    return np.where(other_readings > 0, other_mean, otherwise)


def _sums(ns: Vector, cores: Cores, otherwise: Vector) -> Vector:
    """Guesses each reading from the parts of its two cores, fitted by least squares without that
    reading. Leaving a reading out divides its residual by one minus its leverage. A reading that
    alone determines a core's part is guessed by `otherwise`.
    """
    rows = np.zeros((len(ns), int(cores.max()) + 1))
    for core in cores.T:
        rows[np.arange(len(ns)), core] += 1
    inverse = np.linalg.pinv(rows.T @ rows, hermitian=True)
    alone = 1 - np.sum(rows @ inverse * rows, axis=1)
    residual = ns - rows @ (inverse @ (rows.T @ ns))
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = ns - residual / alone
    return np.where(alone > 1e-9, left_out, otherwise)
