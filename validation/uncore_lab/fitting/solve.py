"""Fits numbers of machines to measured handoffs by least squares.

    ClassTarget(measured, masks).residuals(simulated)    of class medians, then of pairs
    FitPart(keys, residuals)           one machine, and the numbers on which its residuals depend
    solve(parts, prior) -> Solution    all parts together; a number that occurs in several
                                       parts gets a single value

Each number is its value in the file times a factor.  The unknowns are the logarithms of these
factors, so numbers stay positive, and machines with different clocks may share a number in cycles.
The simulated handoff is nearly linear in the latencies of components, so scipy's trust-region least
squares needs only a few steps.  Its derivatives are differences over DERIVATIVE_STEP_LOG.  This
step is large compared with the rounding of durations to picoseconds.  It is also large compared
with the jumps that occur when a handoff shifts by the length of one atomic (C4.1); a mean over
seeds smooths these jumps but does not remove them.

Invariant: the derivatives of a part are computed only for that part's own numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from uncore_lab.figures.hardware import Mask, Matrix

Vector = NDArray[np.float64]

DERIVATIVE_STEP_LOG = 0.03  # step of a numerical derivative, as a logarithm
PAIRS_WEIGHT = 0.3  # weight of all pairs of a class together; its median has weight 1
MAX_STEP_LOG = float(np.log(20))  # a number changes at most by a factor of 20, up or down
MAX_EVALUATIONS = 12  # limit; evaluations for derivatives are not counted


@dataclass(frozen=True)
class ClassTarget:
    """Measured handoffs to fit, class by class. All classes have the same weight, whatever their
    number of pairs.

    The median of a class is insensitive to outliers. The single pairs show which core is nearer to
    a home or a slice.
    """

    measured: Matrix
    masks: Mapping[str, Mask]  # class -> the pairs that count
    medians: float = 1.0
    pairs: float = PAIRS_WEIGHT

    def residuals(self, simulated: Matrix) -> Vector:
        """Returns weighted relative errors: one for each class, then one for each pair."""
        classes = [(self.measured[mask], simulated[mask]) for mask in self.masks.values()]
        medians = [
            np.median(simulated_ns) / np.median(measured_ns) - 1
            for measured_ns, simulated_ns in classes
        ]
        pairs = [
            (simulated_ns / measured_ns - 1) / sqrt(measured_ns.size)
            for measured_ns, simulated_ns in classes
        ]
        weighted = ((self.medians, [np.array(medians)]), (self.pairs, pairs))
        return np.concatenate(
            [weight * errors for weight, group in weighted if weight for errors in group]
        )


def pairs_in_all(masks: Mapping[str, Mask], *matrices: Matrix) -> dict[str, Mask]:
    """Returns, for each class, the pairs that all matrices have. Classes without such a pair are
    left out.
    """
    in_all_matrices = ~np.any([np.isnan(ns) for ns in matrices], axis=0)
    return {
        name: mask & in_all_matrices
        for name, mask in masks.items()
        if (mask & in_all_matrices).any()
    }


@dataclass(frozen=True)
class FitPart:
    keys: Sequence[Hashable]
    residuals: Callable[[Vector], Vector]  # argument: the logarithms of the factors of `keys`
    # largest step of each of `keys`; only the step of a numerical derivative may exceed it
    highest: Sequence[float] = ()


@dataclass(frozen=True)
class Solution:
    keys: Sequence[Hashable]
    steps: Vector  # logarithms of factors
    jacobian: Vector  # derivatives of the residuals with respect to the steps
    residuals: Vector
    prior: float

    @property
    def square(self) -> float:
        return float(np.square(self.residuals).sum())

    def deviations(self, error: float) -> Vector:
        """Returns the standard deviations of the steps, if the residuals are independent with the
        standard deviation `error`.
        """
        normal = self.jacobian.T @ self.jacobian + self.prior**2 * np.eye(len(self.keys))
        return error * np.sqrt(np.diag(np.linalg.inv(normal)))

    def directions(self, columns: Sequence[int]) -> tuple[Vector, Vector]:
        """Returns singular values and right singular vectors (as rows) of the jacobian restricted
        to these columns. A small value marks a combination of numbers that the data do not
        determine.
        """
        chosen_columns = self.jacobian[:, columns]
        squares, directions = np.linalg.eigh(chosen_columns.T @ chosen_columns)
        return np.sqrt(np.maximum(squares, 0)), directions.T

    def determined_steps(self, min_change: float) -> Vector:
        """Returns the steps without their components along directions in which the residuals change
        by less than `min_change`. Along these directions a step only follows noise.
        """
        changes, directions = self.directions(range(len(self.keys)))
        followed = directions[changes >= min_change]
        return np.asarray(followed.T @ (followed @ self.steps))


def solve(
    parts: Sequence[FitPart],
    prior: float = 0,
    begin: Vector | None = None,
    most: int = MAX_EVALUATIONS,
    stride: float = 0,
) -> Solution:
    """Fits all parts together.

    `prior` is the weight of leaving a number at its value in the file: the residual of a number
    that changes by a factor of e. `begin` are the steps to start from, `most` is the largest number
    of evaluations. With a `stride`, the derivatives of the solution are differences between a step
    upwards and a step downwards of this length, which shows what the data determine in spite of the
    jumps of a handoff.
    """
    from scipy.optimize import least_squares  # noqa: PLC0415 (slow to load)

    system = _JointSystem(parts)
    zero = np.zeros(len(system.keys))
    first = zero if begin is None else begin
    if not system.keys:
        return Solution([], zero, np.zeros((0, 0)), np.zeros(0), prior)
    # Steps are counted from `first`, because the first trust region is one factor of e wide.
    result = least_squares(
        lambda x: np.concatenate([system.residuals(first + x), prior * (first + x)]),
        zero,
        jac=lambda x: np.vstack([system.jacobian(first + x), prior * np.eye(len(zero))]),
        bounds=(-MAX_STEP_LOG - first, system.highest - first),
        xtol=1e-4,
        ftol=1e-6,
        max_nfev=most,
    )
    data, steps = slice(len(result.fun) - len(zero)), first + result.x
    jacobian = system.wide_jacobian(steps, stride) if stride else result.jac[data]
    return Solution(system.keys, steps, jacobian, result.fun[data], prior)


class _JointSystem:
    """All parts as one function of all numbers."""

    def __init__(self, parts: Sequence[FitPart]) -> None:
        self.parts = parts
        self.keys = list(dict.fromkeys(key for part in parts for key in part.keys))
        self.columns = [np.array([self.keys.index(k) for k in p.keys], dtype=int) for p in parts]
        self.highest = np.full(len(self.keys), MAX_STEP_LOG)
        for part, columns in zip(parts, self.columns, strict=True):
            if len(part.highest):
                np.minimum.at(self.highest, columns, np.array(part.highest) - DERIVATIVE_STEP_LOG)
        self.cached: tuple[Vector, list[Vector]] | None = None

    def residuals(self, steps: Vector) -> Vector:
        return np.concatenate(self._residuals_of_parts(steps))

    def jacobian(self, steps: Vector) -> Vector:
        """Computes derivatives as differences over a step of DERIVATIVE_STEP_LOG upwards."""
        return self._differences(steps, np.full(len(self.keys), DERIVATIVE_STEP_LOG))

    def wide_jacobian(self, steps: Vector, stride: float) -> Vector:
        """Computes derivatives as the mean of a difference over a step of `stride` downwards and
        one upwards, or downwards alone if the number would exceed its limit.
        """
        down = self._differences(steps, np.full(len(self.keys), -stride))
        at_limit = steps + stride > self.highest + DERIVATIVE_STEP_LOG
        up = self._differences(steps, np.where(at_limit, -stride, stride))
        return (down + up) / 2

    def _differences(self, steps: Vector, strides: Vector) -> Vector:
        rows = []
        for part, columns, base in zip(
            self.parts, self.columns, self._residuals_of_parts(steps), strict=True
        ):
            slopes = np.zeros((len(base), len(self.keys)))
            for column, unit in zip(columns, np.diag(strides[columns]), strict=True):
                slopes[:, column] = (part.residuals(steps[columns] + unit) - base) / unit.sum()
            rows.append(slopes)
        return np.vstack(rows)

    def _residuals_of_parts(self, steps: Vector) -> list[Vector]:
        """Returns the residuals of each part. The last result is cached, because the solver asks
        for residuals and then for derivatives with the same steps.
        """
        if self.cached is None or not np.array_equal(self.cached[0], steps):
            pairs = zip(self.parts, self.columns, strict=True)
            self.cached = steps.copy(), [part.residuals(steps[columns]) for part, columns in pairs]
        return self.cached[1]
