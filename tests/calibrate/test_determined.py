"""Does a fit report exactly the numbers that its data do not determine?  The slopes are made up."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from uncore import topology
from uncore_lab.calibrate.determined import CLASS_RELATIVE_ERROR, uncertainties, undetermined
from uncore_lab.calibrate.fit import Fitted
from uncore_lab.calibrate.problem import Problem, UnrecordedChoice
from uncore_lab.fitting.numbers import MAX_RATIO, NS, RATIO, FreeNumber
from uncore_lab.fitting.solve import MAX_STEP_LOG, Solution

UNIT_SLOPES = np.eye(6)[:3]  # slopes of three numbers, each of which changes one residual only


def fitted(
    slopes: np.ndarray, steps: object = 0.0, residual: float = 0.0, ratio: float = 0
) -> Fitted:
    """Returns a fit of the numbers a, b, c with these slopes, one row for each number. `residual`
    is the residual of every figure after the fit.
    """
    keys = "abc"[: len(slopes)]
    free_numbers = {
        k: FreeNumber(k, ratio or 1.0, RATIO if ratio else NS, k, 1.0, (), ()) for k in keys
    }
    problem = Problem("bus:2", topology.load("bus:2"), free_numbers, np.zeros((2, 2)), False)
    off = np.full(slopes.shape[1], residual)
    moved = np.broadcast_to(np.asarray(steps, dtype=float), len(keys))
    solution = Solution(list(keys), moved, slopes.T, off, prior=0.003)
    return Fitted(problem, UnrecordedChoice("node0"), solution, ())


def test_determined_numbers_are_not_reported() -> None:
    assert undetermined(fitted(UNIT_SLOPES)) == []
    assert uncertainties(fitted(UNIT_SLOPES)) == pytest.approx(
        dict.fromkeys("abc", CLASS_RELATIVE_ERROR), rel=1e-3
    )


def test_halved_slope_doubles_the_deviation_of_a_number() -> None:
    assert uncertainties(fitted(0.5 * UNIT_SLOPES))["a"] == pytest.approx(
        2 * CLASS_RELATIVE_ERROR, rel=1e-3
    )


def test_undetermined_number_is_named() -> None:
    slopes = UNIT_SLOPES * [[1], [0], [1]]
    assert undetermined(fitted(slopes)) == [
        "b: the matrix says nothing of it; it stays where it was"
    ]
    assert [key for key, sd in uncertainties(fitted(slopes)).items() if sd > 1] == ["b"]


def test_a_number_with_a_deviation_above_30_per_cent_is_undetermined() -> None:
    """A residual is known to 1 %. A number that changes it by 4 % for each factor of e is
    determined to 25 %.
    """
    assert undetermined(fitted(0.04 * UNIT_SLOPES)) == []
    assert len(undetermined(fitted(0.03 * UNIT_SLOPES))) == 3


def test_numbers_that_the_data_cannot_tell_apart_are_named_with_their_joint_changes() -> None:
    slopes = np.array([UNIT_SLOPES[0], UNIT_SLOPES[1], UNIT_SLOPES[1] / 2])
    [sentence] = undetermined(fitted(slopes))
    assert sentence == "moved together the matrix cannot tell: b -5 %, c +10 %"
    # the component along `a` is too small to be named
    aside = np.array([UNIT_SLOPES[0], 0.15 * UNIT_SLOPES[0] + UNIT_SLOPES[1], 2 * UNIT_SLOPES[1]])
    assert undetermined(fitted(aside)) == ["moved together the matrix cannot tell: b +10 %, c -5 %"]


def test_deviations_of_fitted_numbers_grow_with_the_residuals() -> None:
    """Six residuals of 0.25 and three numbers leave three degrees of freedom: a
    deviation of 0.35.
    """
    assert undetermined(fitted(UNIT_SLOPES, residual=0.2)) == []
    assert len(undetermined(fitted(UNIT_SLOPES, residual=0.25))) == 3
    assert uncertainties(fitted(UNIT_SLOPES, residual=0.2))["a"] == pytest.approx(
        0.2 * 2**0.5, rel=1e-3
    )


@pytest.mark.parametrize(
    ("steps", "ratio", "said"),
    [
        ([-MAX_STEP_LOG, 0, 0], 0, "a: is as small as it may become"),
        ([0, MAX_STEP_LOG, 0], 0, "b: is as large as it may become"),
        ([0, 0, log(MAX_RATIO / 2)], 2.0, "c: is as large as it may become"),
    ],
)
def test_a_number_at_its_limit_is_named_once(steps: list[float], ratio: float, said: str) -> None:
    """The number is named once even if it is also undetermined, as no residual depends on it."""
    at_limit = np.array(steps) != 0
    slopes = np.where(at_limit[:, None], 0, UNIT_SLOPES)
    [sentence] = undetermined(fitted(slopes, steps, ratio=ratio))
    assert sentence.startswith(said)
    others = undetermined(fitted(0 * UNIT_SLOPES, steps, ratio=ratio))
    assert [line[0] for line in sorted(others)] == ["a", "b", "c"]
    assert undetermined(fitted(UNIT_SLOPES, 0.9 * np.array(steps), ratio=ratio)) == []


def test_numbers_that_the_data_cannot_tell_apart_get_equal_steps() -> None:
    slopes = np.array([UNIT_SLOPES[0], UNIT_SLOPES[1], UNIT_SLOPES[1]])
    assert fitted(slopes, [0.1, 0.2, 0.0]).steps == pytest.approx([0.1, 0.1, 0.1])
    assert fitted(UNIT_SLOPES * [[1], [1], [0.001]], 0.5).steps == pytest.approx([0.5, 0.5, 0])
