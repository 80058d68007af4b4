"""Finds the differences between pairs of a matrix that repeat, so that a model could show them.

    levels(machine, measured) -> {level: Repeat}
    by_level(machine, ns)         a baseline: a matrix with the median of its level for each pair

A model can only show differences that depend on the places of cores; other differences are noise,
for which the level's median is the best guess.  So each reading is guessed from the other readings
of the same cores.  If siblings give several readings of the same two cores, the guess is their
mean; otherwise it is the sum of the two cores' parts, which come from their pairs with other cores.
If these guesses are clearly better than the level's median, the level has structure, and a
simulation must beat the median.

Invariant: no reading is used for its own guess.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import Mask, Matrix, level_of_pairs

# A level has structure if guesses reduce the error of the median by at least this share. With pure
# noise they do not reduce it.
MIN_GAIN_SHARE = 0.1

Vector = NDArray[np.float64]
Cores = NDArray[np.int64]  # the two cores of each reading


class Repeat(NamedTuple):
    """The pairs of a level, and the mean error in per cent of two ways to guess them."""

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
                pairs, mean_error(median, measured, pairs), _error_pct(guess, measured[pairs])
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
    return _error_pct(guess[pairs], truth[pairs])


def _error_pct(guess: Vector, truth: Vector) -> float:
    return 100 * float(np.mean(abs(guess / truth - 1)))


def _from_others(ns: Vector, cores: Cores, otherwise: Vector) -> Vector:
    """Guesses each reading as the mean of other readings of the same two cores; if a reading has
    none, its guess is the value in `otherwise`.
    """
    _, pair_index, counts = np.unique(cores, axis=0, return_inverse=True, return_counts=True)
    other_readings = counts[pair_index] - 1
    if not other_readings.any():
        return _sums(ns, cores, otherwise)
    other_mean = (np.bincount(pair_index, ns)[pair_index] - ns) / np.maximum(other_readings, 1)
    return np.where(other_readings > 0, other_mean, otherwise)


def _sums(ns: Vector, cores: Cores, otherwise: Vector) -> Vector:
    """Guesses each reading as the sum of the parts of its two cores, which are fitted by least
    squares without that reading. Leaving a reading out divides its residual by one minus its
    leverage. If only this reading determines a core's part, the guess is the value in `otherwise`.
    """
    rows = np.zeros((len(ns), int(cores.max()) + 1))
    for core in cores.T:
        rows[np.arange(len(ns)), core] += 1
    inverse = np.linalg.pinv(rows.T @ rows, hermitian=True)
    one_minus_leverage = 1 - np.sum(rows @ inverse * rows, axis=1)
    residual = ns - rows @ (inverse @ (rows.T @ ns))
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = ns - residual / one_minus_leverage
    return np.where(one_minus_leverage > 1e-9, left_out, otherwise)
