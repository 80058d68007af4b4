"""Finds the numbers that the data of a fit cannot determine.

    uncertainties(fitted) -> {key: relative standard deviation}
    undetermined(fitted) -> sentences
    doubtful(fitted) -> sentences about numbers with an implausible value

The errors of classes are assumed to be independent, and as large as CLASS_RELATIVE_ERROR or as the
residuals of the fit, whichever is larger.  So the covariance of the numbers' logarithms is (J'J)^-1
times the square of that error.  If the residuals hardly change along a direction, the data do not
determine that combination of numbers, and a sentence names the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uncore_lab.calibrate.fit import Fitted
from uncore_lab.fitting.numbers import highest
from uncore_lab.fitting.solve import MAX_STEP_LOG, Vector

CLASS_RELATIVE_ERROR = 0.01  # relative error assumed of a measured class median
MAX_RELATIVE_DEVIATION = 0.3  # a number with a larger relative standard deviation is undetermined
LIMIT_MARGIN_LOG = 0.05  # a number whose logarithm is nearer to its limit is reported
# A number that changed by a larger factor is doubtful: numbers of related machines differ by a
# factor of 1.5 at most.
MAX_FACTOR_FROM_FILE = 3.0
MIN_NAMED_COMPONENT = 0.3  # the least component of a direction for which a number is named


def uncertainties(fitted: Fitted) -> dict[str, float]:
    deviations = fitted.solution.deviations(_error(fitted))
    return dict(zip(fitted.problem.free_numbers, deviations.tolist(), strict=True))


def undetermined(fitted: Fitted) -> list[str]:
    limited_numbers = at_limits(fitted)
    inner_columns = [
        index for index, key in enumerate(fitted.problem.free_numbers) if key not in limited_numbers
    ]
    changes, directions = fitted.solution.directions(inner_columns)
    is_undetermined = changes * MAX_RELATIVE_DEVIATION < _error(fitted)
    keys = [key for key in fitted.problem.free_numbers if key not in limited_numbers]
    return [
        *limited_numbers.values(),
        *(_sentence(keys, direction) for direction in directions[is_undetermined]),
    ]


def doubtful(fitted: Fitted) -> list[str]:
    """Returns a sentence for each number that the fit changed by an implausible factor. A matrix
    that was measured on a busy host has this effect, although its classes fit with small errors.
    """
    free_numbers, factors = fitted.problem.free_numbers, np.exp(fitted.steps).tolist()
    return [
        f"{key}: {factor:.2g} times the number of {fitted.problem.name}: the figures are of"
        " another machine, or others worked on it"
        for key, factor in zip(free_numbers, factors, strict=True)
        if max(factor, 1 / factor) > MAX_FACTOR_FROM_FILE
    ]


def at_limits(fitted: Fitted) -> dict[str, str]:
    """Returns the numbers that the fit has moved to a limit, with a sentence for each."""
    limits, free_numbers = {}, fitted.problem.free_numbers
    for key, step, limit in zip(
        free_numbers, fitted.solution.steps, highest(free_numbers), strict=True
    ):
        limit = min(limit, MAX_STEP_LOG)
        if min(step + MAX_STEP_LOG, limit - step) < LIMIT_MARGIN_LOG:
            extreme = "small" if step + MAX_STEP_LOG < LIMIT_MARGIN_LOG else "large"
            limits[key] = (
                f"{key}: is as {extreme} as it may become; some other number of the file does not"
                " fit this machine (look at core.clock, or name more with --free)"
            )
    return limits


def _error(fitted: Fitted) -> float:
    residuals = fitted.solution.residuals
    degrees_of_freedom = max(1, len(residuals) - len(fitted.steps))
    return max(CLASS_RELATIVE_ERROR, float(np.sqrt(np.sum(residuals**2) / degrees_of_freedom)))


def _sentence(keys: Sequence[str], direction: Vector) -> str:
    direction = direction * np.sign(direction[np.argmax(abs(direction))])
    named_keys = [
        (key, float(component))
        for key, component in zip(keys, direction, strict=True)
        if abs(component) > MIN_NAMED_COMPONENT
    ]
    if len(named_keys) == 1:
        return f"{named_keys[0][0]}: the matrix says nothing of it; it stays where it was"
    largest = max(component for _, component in named_keys)
    moves = ", ".join(f"{key} {10 * component / largest:+.0f} %" for key, component in named_keys)
    return f"moved together the matrix cannot tell: {moves}"
