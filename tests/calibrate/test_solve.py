"""Does the solver recover known numbers, and does it weigh classes as documented?"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log

import numpy as np
import pytest

from uncore_lab.fitting.solve import (
    DERIVATIVE_STEP_LOG,
    MAX_STEP_LOG,
    PAIRS_WEIGHT,
    ClassTarget,
    FitPart,
    pairs_in_all,
    solve,
)


def sums(right: list[float], calls: list[int] | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """Makes a function that computes residuals, which are 0 if the steps are `right`. Each latency
    is the sum of a number and the next one. `calls` receives the number of steps of each call.
    """
    rows = np.eye(len(right)) + np.eye(len(right), k=1)
    truth = rows @ np.exp(right)

    def residuals(steps: np.ndarray) -> np.ndarray:
        if calls is not None:
            calls.append(len(steps))
        return np.asarray(rows @ np.exp(steps) / truth - 1)

    return residuals


def test_shared_number_has_one_value_in_all_parts() -> None:
    first, second = sums([0.1, -0.2]), sums([-0.2, 0.3, 0.4])
    solution = solve([FitPart(["a", "b"], first), FitPart(["b", "c", "d"], second)])
    assert list(solution.keys) == ["a", "b", "c", "d"]
    assert solution.steps == pytest.approx([0.1, -0.2, 0.3, 0.4], abs=1e-3)
    assert solution.jacobian[:2, 2:] == pytest.approx(0) and solution.jacobian.shape == (5, 4)


def test_each_part_is_evaluated_once_and_once_per_number_of_its_own() -> None:
    small: list[int] = []
    large: list[int] = []
    solve([FitPart("a", sums([0.1], small)), FitPart("bcdefg", sums([0.0] * 6, large))], most=1)
    assert small == [1, 1] and large == [6] * 7


def test_number_without_influence_keeps_its_value() -> None:
    blind = FitPart(["a", "b"], lambda steps: np.array([np.exp(steps[0] - log(2)) - 1]))
    assert solve([blind], prior=0.003).steps == pytest.approx([log(2), 0], abs=1e-3)
    assert solve([blind], prior=1.0).steps[0] < 0.5 * log(2)
    begin = np.array([0.5, 0.25])
    assert solve([blind], begin=begin).steps == pytest.approx([log(2), 0.25], abs=0.01)
    assert solve([blind], prior=0.1, begin=begin).steps == pytest.approx([log(2), 0], abs=0.02)
    assert solve([]).steps.size == 0


def test_steps_end_at_their_limits() -> None:
    """The smallest limit among all parts applies, and derivatives do not exceed it."""
    first_steps = [0.0]

    def far(steps: np.ndarray) -> np.ndarray:
        first_steps.append(steps[0])
        return np.asarray(steps - [10, -10])

    parts = [FitPart("ab", far, [0.5, inf]), FitPart("b", lambda steps: steps + 10)]
    solution = solve(parts, begin=np.array([0.2, -1.0]))
    assert solution.steps == pytest.approx([0.5 - DERIVATIVE_STEP_LOG, -MAX_STEP_LOG], abs=0.01)
    assert max(first_steps) <= 0.5


def test_wide_stride_finds_the_slope_of_a_step_function() -> None:
    """A function that changes in steps of a tenth has no slope over the usual step of a
    derivative.
    """
    stairs = FitPart(["a"], lambda steps: np.floor(10 * steps + 0.5) / 10)
    near, far = solve([stairs], prior=0.01), solve([stairs], prior=0.01, stride=0.2)
    assert near.jacobian == pytest.approx(0) and far.jacobian == pytest.approx(1)


def test_wide_stride_looks_both_ways() -> None:
    """A number may be at an edge, where one side shows too much and the other side nothing."""
    edge = FitPart(["a"], lambda steps: np.floor(steps + 1e-9))
    assert solve([edge], prior=0.01, stride=0.5).jacobian == pytest.approx(1)


def test_derivative_is_taken_downwards_if_its_step_would_exceed_a_limit() -> None:
    first_steps: list[float] = []

    def straight(steps: np.ndarray) -> np.ndarray:
        first_steps.append(steps[0])
        return 2 * np.asarray(steps)

    solution = solve([FitPart(["a"], straight, [0.1])], stride=0.5)
    assert solution.jacobian == pytest.approx(2) and max(first_steps) <= 0.1


def test_weight_of_a_class_does_not_depend_on_its_number_of_pairs() -> None:
    measured = np.full((9, 9), 100.0)
    few, many = np.zeros((2, 9, 9), dtype=bool)
    few[0, :2] = many[1:] = True
    simulated = np.where(few, 110.0, 120.0)
    off = ClassTarget(measured, {"few": few, "many": many}).residuals(simulated)
    medians, pairs = off[:2], off[2:]
    assert medians == pytest.approx([0.1, 0.2]) and pairs.size == 2 + 72
    assert np.sum(pairs[:2] ** 2) == pytest.approx((PAIRS_WEIGHT * 0.1) ** 2)
    assert np.sum(pairs[2:] ** 2) == pytest.approx((PAIRS_WEIGHT * 0.2) ** 2)
    alone = ClassTarget(measured, {"few": few}, medians=0, pairs=1).residuals(simulated)
    assert alone == pytest.approx([0.1 / 2**0.5] * 2)


def test_pairs_and_classes_that_nobody_measured_are_left_out() -> None:
    measured, other = np.ones((2, 3, 3))
    measured[0, 0] = other[0, 1] = np.nan
    row, corner = np.zeros((2, 3, 3), dtype=bool)
    row[0] = corner[0, 0] = True
    left = pairs_in_all({"row": row, "corner": corner}, measured, other)
    assert list(left) == ["row"] and left["row"][0].tolist() == [False, False, True]
