"""Finds the numbers that the data of a fit cannot determine.

    uncertainties(fitted) -> {key: relative standard deviation}
    undetermined(fitted) -> sentences
    doubtful(fitted) -> sentences, of numbers that have gone where no machine of the family is

Errors of classes are taken as independent, of ERROR or of what is left over after the fit,
whichever is larger; so the covariance of the numbers' logarithms is (J'J)^-1 times its square.  A
direction in which the residuals hardly change is a combination of numbers that fits alike whatever
its size: its numbers are named.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uncore_lab.calibrate.fit import Fitted
from uncore_lab.fitting.numbers import highest
from uncore_lab.fitting.solve import REACH, Vector

ERROR = 0.01  # relative error assumed of a measured class median
UNCERTAIN = 0.3  # relative standard deviation past which a number is not determined
NEAR = 0.05  # a step this close to its limit, as a logarithm, counts as at the limit
FAR = 3.0  # times the file's number; relatives lend each other numbers within a half (predict/)
NAMED = 0.3  # least part of a direction that is worth naming


def uncertainties(fitted: Fitted) -> dict[str, float]:
    deviations = fitted.solution.deviations(_error(fitted))
    return dict(zip(fitted.problem.frees, deviations.tolist(), strict=True))


def undetermined(fitted: Fitted) -> list[str]:
    ended = at_limits(fitted)
    inside = [n for n, key in enumerate(fitted.problem.frees) if key not in ended]
    changes, directions = fitted.solution.directions(inside)
    loose = changes * UNCERTAIN < _error(fitted)
    keys = [key for key in fitted.problem.frees if key not in ended]
    return [*ended.values(), *(_sentence(keys, direction) for direction in directions[loose])]


def doubtful(fitted: Fitted) -> list[str]:
    """A fit can follow a busy host's figures anywhere: a small error says nothing against that."""
    frees, factors = fitted.problem.frees, np.exp(fitted.steps).tolist()
    return [
        f"{key}: {factor:.2g} times the number of {fitted.problem.name}: the figures are of"
        " another machine, or others worked on it"
        for key, factor in zip(frees, factors, strict=True)
        if max(factor, 1 / factor) > FAR
    ]


def at_limits(fitted: Fitted) -> dict[str, str]:
    """Numbers that would go on if they might."""
    limits, frees = {}, fitted.problem.frees
    for key, step, most in zip(frees, fitted.solution.steps, highest(frees), strict=True):
        most = min(most, REACH)
        if min(step + REACH, most - step) < NEAR:
            way = "small" if step + REACH < NEAR else "large"
            limits[key] = (
                f"{key}: is as {way} as it may become; some other number of the file does not fit"
                " this machine (look at core.clock, or name more with --free)"
            )
    return limits


def _error(fitted: Fitted) -> float:
    residuals = fitted.solution.residuals
    left = max(1, len(residuals) - len(fitted.steps))
    return max(ERROR, float(np.sqrt(np.sum(residuals**2) / left)))


def _sentence(keys: Sequence[str], direction: Vector) -> str:
    direction = direction * np.sign(direction[np.argmax(abs(direction))])
    named = [
        (key, float(part)) for key, part in zip(keys, direction, strict=True) if abs(part) > NAMED
    ]
    if len(named) == 1:
        return f"{named[0][0]}: the matrix says nothing of it; it stays where it was"
    largest = max(part for _, part in named)
    moves = ", ".join(f"{key} {10 * part / largest:+.0f} %" for key, part in named)
    return f"moved together the matrix cannot tell: {moves}"
