"""Log-normal mixtures, which describe a number or a class median that was not measured.

    Mixture(logarithms, weights, spreads)       one component for each relative or drawn machine
    log_normal(median, deviation)               a mixture of a single component
    mixture.quantile(0.9), .median, .interval(0.8), .deviation
    mixture.crps(measured)                      a proper score of the logarithm: less is better

Two kinds of relatives give two peaks.  A single normal distribution would be most certain of a
value between the peaks, which neither kind has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from uncore_lab.fitting.written import FOUR_FIFTHS_DEVIATIONS

Vector = NDArray[np.float64]

GRID_POINTS = 2048  # points of the grid on which quantiles are interpolated
TAIL_DEVIATIONS = 4.5  # the grid ends this many deviations beyond the outermost components


@dataclass(frozen=True)
class Mixture:
    logarithms: Sequence[float]
    weights: Sequence[float]  # their sum is 1
    spreads: Sequence[float]  # standard deviation of each component

    @property
    def median(self) -> float:
        return self.quantile(0.5)

    @property
    def deviation(self) -> float:
        """The standard deviation of the logarithm of that log-normal distribution which has the
        same 80 % interval.
        """
        low, high = self.interval(0.8)
        return log(high / low) / 2 / FOUR_FIFTHS_DEVIATIONS

    def interval(self, share: float) -> tuple[float, float]:
        return self.quantile((1 - share) / 2), self.quantile((1 + share) / 2)

    def quantile(self, share: float) -> float:
        values, cumulated = self._cumulative_distribution
        return exp(float(np.interp(share, cumulated, values)))

    def crps(self, measured: float) -> float:
        """Returns the integral, over all thresholds, of the squared error of the cumulative
        distribution (Gneiting and Raftery 2007). For a single certain value it is the absolute
        error of the logarithm.
        """
        centres, weights = np.array(self.logarithms), np.array(self.weights)
        spreads, differences = np.array(self.spreads), np.subtract.outer(centres, centres)
        to_truth = weights @ _distance(centres - log(measured), spreads)
        to_another = weights @ _distance(differences, np.hypot.outer(spreads, spreads)) @ weights
        return float(to_truth - to_another / 2)

    @cached_property
    def _cumulative_distribution(self) -> tuple[Vector, Vector]:
        beyond = TAIL_DEVIATIONS * max(self.spreads)
        values = np.linspace(
            min(self.logarithms) - beyond, max(self.logarithms) + beyond, GRID_POINTS
        )
        scores = np.subtract.outer(values, np.array(self.logarithms)) / np.array(self.spreads)
        return values, _normal_cdf(scores) @ np.array(self.weights)


def log_normal(median: float, deviation: float) -> Mixture:
    return Mixture((log(median),), (1.0,), (deviation,))


def _normal_cdf(scores: Vector) -> Vector:
    """Returns the cumulative distribution function of the standard normal."""
    from scipy.special import ndtr  # noqa: PLC0415 (slow to load)

    return np.asarray(ndtr(scores))


def _distance(difference: Vector, deviation: Vector) -> Vector:
    """Returns the mean absolute value of normal variables with these means and deviations."""
    scores = difference / deviation
    density = np.exp(-(scores**2) / 2) / (2 * np.pi) ** 0.5
    return np.asarray(2 * deviation * density + difference * (2 * _normal_cdf(scores) - 1))
