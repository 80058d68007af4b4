"""Measured handoffs as residuals, and the least-squares solver that fits numbers to them.

    ClassTarget(measured, masks).off(simulated)
                                       residuals of class medians, then of pairs
    FitPart(keys, residuals)           one machine, and the numbers that move it
    solve(parts, prior) -> Solution    all together; a number of several parts has one value

Each number is its value in the file times a factor.  The unknowns are the logarithms of these
factors, so numbers stay positive, and machines with different clocks may share a number in cycles.
The simulated handoff is nearly linear in the latencies of components, so scipy's trust-region least
squares needs a few steps.  Its derivatives are differences over DERIVATIVE_STEP_LOG.  That is large
against the picosecond to which durations are rounded, and against the jumps of a handoff by an
atomic's length (C4.1), which a mean over seeds smooths but does not remove.

Invariant: of each part only its own numbers are moved to find its derivatives.
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
# A derivative smaller than this share of the one over a wider step is hidden by jumps of the
# handoff.
MIN_DERIVATIVE_RATIO = 0.3
MAX_STEP_LOG = float(np.log(20))  # a number changes at most by a factor of 20, up or down
MAX_EVALUATIONS = 12  # limit; evaluations for derivatives are not counted


@dataclass(frozen=True)
class ClassTarget:
    """Measured handoffs to fit, class by class; a class of a thousand pairs weighs as much as one
    of ten.

    Outliers do not move the median. The pairs show which core is nearer to a home or a slice.
    """

    measured: Matrix
    masks: Mapping[str, Mask]  # class -> the pairs that count; empty where nothing is known
    medians: float = 1.0
    pairs: float = PAIRS_WEIGHT

    def off(self, simulated: Matrix) -> Vector:
        """Returns weighted relative errors: one of each class, then one of each of its pairs."""
        classes = [(self.measured[mask], simulated[mask]) for mask in self.masks.values()]
        medians = [np.median(ours) / np.median(real) - 1 for real, ours in classes]
        pairs = [(ours / real - 1) / sqrt(real.size) for real, ours in classes]
        weighed = ((self.medians, [np.array(medians)]), (self.pairs, pairs))
        return np.concatenate(
            [weight * residuals for weight, part in weighed if weight for residuals in part]
        )


def present(masks: Mapping[str, Mask], *matrices: Matrix) -> dict[str, Mask]:
    """Returns, for each class, the pairs that all matrices have; classes without any are
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
    # largest step of each of `keys`; a step taken for a derivative may go beyond
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

    def firm(self, faint: float) -> Vector:
        """Returns the steps without their components along directions in which the residuals change
        by less than `faint`: there a step only follows noise.
        """
        changes, directions = self.directions(range(len(self.keys)))
        followed = directions[changes >= faint]
        return np.asarray(followed.T @ (followed @ self.steps))


def solve(
    parts: Sequence[FitPart],
    prior: float = 0,
    begin: Vector | None = None,
    most: int = MAX_EVALUATIONS,
    stride: float = DERIVATIVE_STEP_LOG,
) -> Solution:
    """Solves all parts together. `prior` is the weight of leaving a number where it was: a residual
    of that size for each factor of e. `stride` is a second, wider step, used for derivatives that
    the jumps of a handoff hide at DERIVATIVE_STEP_LOG.
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
    jacobian = result.jac[data]
    if stride > DERIVATIVE_STEP_LOG:
        wide = system.jacobian(steps, stride)
        hidden = np.linalg.norm(jacobian, axis=0) < MIN_DERIVATIVE_RATIO * np.linalg.norm(
            wide, axis=0
        )
        jacobian = np.where(hidden, wide, jacobian)
    return Solution(system.keys, steps, jacobian, result.fun[data], prior)


class _JointSystem:
    """All parts as one function of all numbers."""

    def __init__(self, parts: Sequence[FitPart]) -> None:
        self.parts = parts
        self.keys = list(dict.fromkeys(key for part in parts for key in part.keys))
        self.own = [np.array([self.keys.index(k) for k in p.keys], dtype=int) for p in parts]
        self.highest = np.full(len(self.keys), MAX_STEP_LOG)
        for part, own in zip(parts, self.own, strict=True):
            if len(part.highest):
                np.minimum.at(self.highest, own, np.array(part.highest) - DERIVATIVE_STEP_LOG)
        self.seen: tuple[Vector, list[Vector]] | None = None

    def residuals(self, steps: Vector) -> Vector:
        return np.concatenate(self._of_parts(steps))

    def jacobian(self, steps: Vector, stride: float = DERIVATIVE_STEP_LOG) -> Vector:
        """Computes differences over a step of `stride` upwards; downwards if a number would pass
        its limit.
        """
        signs = np.where(steps + stride > self.highest + DERIVATIVE_STEP_LOG, -1.0, 1.0)
        rows = []
        for part, own, base in zip(self.parts, self.own, self._of_parts(steps), strict=True):
            slopes = np.zeros((len(base), len(self.keys)))
            for column, unit in zip(own, np.diag(stride * signs[own]), strict=True):
                slopes[:, column] = (part.residuals(steps[own] + unit) - base) / unit.sum()
            rows.append(slopes)
        return np.vstack(rows)

    def _of_parts(self, steps: Vector) -> list[Vector]:
        """Returns the residuals of each part, cached for the last steps, because the solver asks
        for derivatives where it has just asked for residuals.
        """
        if self.seen is None or not np.array_equal(self.seen[0], steps):
            pairs = zip(self.parts, self.own, strict=True)
            self.seen = steps.copy(), [part.residuals(steps[own]) for part, own in pairs]
        return self.seen[1]
